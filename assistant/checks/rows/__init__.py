"""The rows of the table of checks, a file per topic: data only. `table` joins them."""
