"""The engine: operations are recorded, lowered to programs, fused and differentiated; it compiles
nothing."""
