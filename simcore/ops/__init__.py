"""ONNX operators as plain functions, a file per family; `table` says which function serves which operator version.

    table           OPERATORS: (domain, op_type) -> ((since_version, function), ...)
    elementwise     arithmetic, comparison, logic and activation, element by element
    reduce          sums, means, maxima along axes
    linear          MatMul, Gemm, Conv, ConvTranspose
    pool            pooling windows and global pooling
    normalization   batch, layer, instance, group and local response normalization, Softmax
    recurrent       RNN, LSTM, GRU
    cast            element types and conversion between them
    shape           rearranging, joining, splitting and creating tensors
    pad             borders
    index           picking and placing elements by index
    resize          Resize and Upsample
    quantize        codes and integer arithmetic

An operator is named in snake_case after its ONNX name (a trailing underscore where Python has that word). Inputs are
positional, None where an optional one is absent; attributes are keyword arguments with their ONNX names and defaults;
it returns one array or a tuple of the node's outputs. A keyword `num_outputs` receives the number of outputs of the
node. Arguments are never changed in place; a result may be a view of an argument.
"""
