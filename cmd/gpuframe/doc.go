// Gpuframe looks into what gpuframe does on this machine.
//
//	gpuframe mem info                       # the memory of every device
//	gpuframe mem replay trace.csv           # a logged trace, on the first GPU or the host
//	gpuframe mem replay trace.csv --resource pool --stack limit=8GiB,statistics
//
// A trace is what adaptor.Logging writes, or RMM's logging adaptor.
package main
