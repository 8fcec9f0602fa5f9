"""The engine: operations are recorded, lowered to programs, fused and differentiated.
The engine compiles nothing: targets do."""
