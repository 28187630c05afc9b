// Memory measures gpuframe's resources and its manager with RMM's benchmarks and
// RMM's parameters, beside the driver's own pool as C uses it, in one process on
// one device.
//
//	go run ./bench/memory                      # on cuda:0
//	go run ./bench/memory -device host -quick  # without a GPU
//	go run ./bench/memory -only random,replay -log trace.csv
//
// The parts, which -only selects:
//
//	pairs     an allocation and its free, of 256 B to 256 MiB
//	threads   pairs of 4 KiB per second, of 1 to 16 goroutines
//	random    RMM's random_allocations
//	streams   RMM's multi_stream_allocations
//	replay    a log that -log names, as RMM's replay
//	segments  what fixed and expandable segments reserve for the same program
//
// The other side is bench/internal/peer: the same requests, from C, to a pool of
// cuMemPoolCreate that keeps what it has. On the host there is none. Bars are
// printed with whether they were met; the exit status tells errors alone.
//
// The random part makes the very requests that RMM's program makes, for it draws
// the same numbers: libstdc++'s default_random_engine with its seed of 1. They
// are drawn beforehand here, and within the time in RMM's program.
package main
