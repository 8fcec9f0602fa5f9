"""The processor and the process: threads, vector functions, memory, machine code that is loaded.

"""
