// The kernels of all checks. Each is compiled alone.
#include "ascending.cuh"
#include "binary_views.cuh"
#include "dense_offsets.cuh"
#include "indices.cuh"
#include "list_views.cuh"
#include "type_ids.cuh"
#include "valid.cuh"
