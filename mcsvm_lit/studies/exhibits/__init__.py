"""The tables and figures of the papers, one module per chapter."""
