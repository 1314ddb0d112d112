"""The programs compared. Each has a name, may refuse (job.Unable), and runs one job in a process of its own."""
