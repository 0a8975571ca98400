"""How nodes compute on an NPU, by the rules of simcore.precision.

vector      operators step by step in fp16 (rule Half)
cube        matrix operators on codes: Conv, ConvTranspose, MatMul, Gemm (rule Quantized)
recurrent   LSTM and GRU nodes with quantized state (rule Quantized)
bind        a node and its rule -> the function that the plan calls
"""
