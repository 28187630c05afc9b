// The kernels of the hash table. Each is compiled alone.
#include "codes.cuh"
#include "find.cuh"
#include "insert_bytes.cuh"
#include "insert_floats.cuh"
#include "insert_integers.cuh"
#include "insert_others.cuh"
