"""Kernels: functions of operators, compiled for given dtypes and called by address."""
