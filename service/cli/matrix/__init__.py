"""The device matrix as files: HTML for reading and printing, CSV for everything else."""
