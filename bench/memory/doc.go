// Memory measures gpuframe's resources and its manager with RMM's benchmarks and RMM's
// parameters, compared with the driver's pool as C uses it, in one process on one
// device.
//
//	go -C bench run ./memory                      # on cuda:0
//	go -C bench run ./memory -device host -quick  # without a GPU
//	go -C bench run ./memory -only random,replay -log trace.csv
//
// The parts, which -only selects:
//
//	pairs     an allocation and its free, of 256 B to 256 MiB
//	threads   pairs of 4 KiB per second, of 1 to 16 goroutines
//	random    RMM's random_allocations
//	streams   RMM's multi_stream_allocations
//	replay    a log that -log names, as RMM's replay
//	segments  the reservations of fixed and expandable segments for one program
//
// The reference is bench/internal/peer: the same requests, from C, to a pool of
// cuMemPoolCreate that never returns memory. The host has no reference. Each bar is
// printed with its result; the exit status reports only errors.
//
// The random part makes exactly the requests of RMM's program, because it draws the
// same numbers: libstdc++'s default_random_engine with its seed of 1. Here they are
// drawn before the timed part, in RMM's program within it.
package main
