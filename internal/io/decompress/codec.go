package decompress

import (
	"fmt"

	"github.com/gpuframe/gpuframe/internal/op"
)

// Codec is a compression of the pages of Parquet files.
type Codec uint8

// The codecs. LZ4Raw is blocks of LZ4 without a frame, Gzip any number of members.
const (
	None Codec = iota
	Snappy
	LZ4Raw
	Gzip
	Zstandard
)

// decoder has the functions of a codec.
type decoder struct {
	name string
	// host decompresses a page on the host.
	host func(to, from []byte) Status
	// launch enqueues the kernels.
	launch func(*op.Call, Batch) error
	// scratch returns the bytes of memory that launch allocates; nil for none.
	scratch func(Size) uint64
}

var decoders = [...]decoder{
	None:      {name: "none", host: copyOnHost, launch: kernel("copy", "copy_pages", warp)},
	Snappy:    {name: "Snappy", host: snappyOnHost, launch: launchSnappy, scratch: snappyScratch},
	LZ4Raw:    {name: "LZ4", host: lz4OnHost, launch: tokens("lz4")},
	Gzip:      {name: "Gzip", host: gzipOnHost, launch: kernel("gzip", "gzip", warp)},
	Zstandard: {name: "Zstandard", host: zstdOnHost, launch: launchZstd, scratch: zstdScratch},
}

// String returns the name of the codec.
func (c Codec) String() string {
	if int(c) < len(decoders) {
		return decoders[c].name
	}
	return fmt.Sprintf("Codec(%d)", uint8(c))
}

// Supported reports whether [Launch] decompresses pages of a codec on every device.
func Supported(c Codec) bool {
	return int(c) < len(decoders) && decoders[c].host != nil && decoders[c].launch != nil
}

// Scratch returns the bytes of memory that [Launch] allocates for pages of a size, for estimates.
func Scratch(c Codec, size Size) uint64 {
	if int(c) >= len(decoders) || decoders[c].scratch == nil {
		return 0
	}
	return decoders[c].scratch(size)
}
