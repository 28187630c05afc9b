// Gpuframe inspects gpuframe's memory on this machine.
//
//	gpuframe mem info                       # the memory of every device
//	gpuframe mem replay trace.csv           # a logged trace, on the first GPU or the host
//	gpuframe mem replay trace.csv --resource pool --stack limit=8GiB,statistics
//
// A trace is a log of adaptor.Logging or of RMM's logging adaptor.
package main
