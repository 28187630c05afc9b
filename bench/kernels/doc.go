// Kernels measures gpuframe's expressions and operators on a GPU, against the device's
// copy rate and, if their figures are given, against PyTorch, CuPy and CUB.
//
//	nvcc -O3 -arch=native -o peers bench/kernels/peers.cu
//	{ ./peers 134217728; python3 bench/kernels/peers.py 134217728 1000; } > bench/peers.tsv
//	go -C bench run ./kernels -peers peers.tsv
//
// "Reach" is the copy rate over the fewest bytes that an operator moves for a row.
// Times of large inputs are the device's, between an event before five calls and one
// after them. Times of small inputs are the clock's, from the call until the result is
// on the device. Each bar is printed with its result; the exit status reports only
// errors.
//
//	-only curve     times for 2^10 to 2^28 rows
//
// match selects sorts, group-bys, joins, functions and windows by their names.
//
//	-only windows   functions of windows
//	-only sort      sorts; their peers are printed by ./peers sort 134217728
package main
