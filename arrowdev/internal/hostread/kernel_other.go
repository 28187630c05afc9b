//go:build !linux

package hostread

func readByKernel([]int64, uintptr) outcome { return unknown }
