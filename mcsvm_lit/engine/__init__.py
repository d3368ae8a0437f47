"""How loops become fast, how many threads they use, and which packages are optional."""
