//go:build !cgo || !linux || !(amd64 || arm64)

package nvtx

func attach(string) bool  { return false }
func start(string) uint64 { return 0 }
func end(uint64)          {}
