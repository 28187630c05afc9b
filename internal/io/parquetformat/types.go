package parquetformat

import "fmt"

// Type is how a file stores values, as the format numbers it.
type Type int32

// The types of values.
const (
	Boolean Type = iota
	Int32
	Int64
	Int96
	Float
	Double
	ByteArray
	FixedLenByteArray
)

var typeNames = [...]string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}

// String returns the name in the format.
func (t Type) String() string {
	if t < 0 || int(t) >= len(typeNames) {
		return fmt.Sprintf("type %d", int32(t))
	}
	return typeNames[t]
}

// Repetition is how often a node has values below the node around it.
type Repetition int32

// The repetitions.
const (
	Required Repetition = iota
	Optional
	Repeated
)

// Codec is a compression of pages, as the format numbers it.
type Codec int32

// The codecs. LZ4 is in frames of Hadoop, LZ4Raw in blocks.
const (
	Uncompressed Codec = iota
	Snappy
	Gzip
	LZO
	Brotli
	LZ4
	Zstd
	LZ4Raw
)

var codecNames = [...]string{"UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"}

// String returns the name in the format.
func (c Codec) String() string {
	if c < 0 || int(c) >= len(codecNames) {
		return fmt.Sprintf("codec %d", int32(c))
	}
	return codecNames[c]
}
