"""The command line: one file a command, parsing and printing only. Heavy imports happen inside the commands."""
