package text

import (
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/zeebo/xxh3"

	"github.com/gpuframe/gpuframe/internal/base/lazy"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

var (
	md5Function = lazy.Value[*hostFunction]{Make: func() *hostFunction {
		return digestFunction("md5", func(text []byte) []byte {
			sum := md5.Sum(text)
			return sum[:]
		})
	}}
	sha1Function = lazy.Value[*hostFunction]{Make: func() *hostFunction {
		return digestFunction("sha1", func(text []byte) []byte {
			sum := sha1.Sum(text)
			return sum[:]
		})
	}}
	sha256Function = lazy.Value[*hostFunction]{Make: func() *hostFunction {
		return digestFunction("sha256", func(text []byte) []byte {
			sum := sha256.Sum256(text)
			return sum[:]
		})
	}}
	xxh3Function = lazy.Value[*hostFunction]{Make: func() *hostFunction {
		return &hostFunction{name: "xxh3", result: ofStrings(arrow.PrimitiveTypes.Uint64), rows: func(_ context.Context, _ hosted, operands []arrow.Array) (appendRow, error) {
			text := stringsOf(operands[0])
			return func(row int, to array.Builder) { to.(*array.Uint64Builder).Append(xxh3.HashString(text(row))) }, nil
		}}
	}}
	murmur3Function = lazy.Value[*hostFunction]{Make: func() *hostFunction {
		return &hostFunction{name: "murmur3", result: ofStrings(arrow.PrimitiveTypes.Uint32), rows: func(_ context.Context, h hosted, operands []arrow.Array) (appendRow, error) {
			text := stringsOf(operands[0])
			return func(row int, to array.Builder) {
				to.(*array.Uint32Builder).Append(murmur3([]byte(text(row)), uint32(h.number)))
			}, nil
		}}
	}}
)

// MD5 is the digest of the bytes of a string as 32 hexadecimal digits. The host computes it, as the other digests.
func MD5(e expr.Expr) expr.Expr { return onHost(hosted{function: md5Function.Get()}, e) }

// SHA1 is the digest of the bytes of a string as 40 hexadecimal digits.
func SHA1(e expr.Expr) expr.Expr { return onHost(hosted{function: sha1Function.Get()}, e) }

// SHA256 is the digest of the bytes of a string as 64 hexadecimal digits.
func SHA256(e expr.Expr) expr.Expr { return onHost(hosted{function: sha256Function.Get()}, e) }

// XXH3 is the hash of 64 bits of xxHash's XXH3 of the bytes of a string.
func XXH3(e expr.Expr) expr.Expr { return onHost(hosted{function: xxh3Function.Get()}, e) }

// Murmur3 is the hash of 32 bits of MurmurHash3 of the bytes of a string with a seed.
func Murmur3(e expr.Expr, seed int) expr.Expr {
	return onHost(hosted{function: murmur3Function.Get(), number: seed}, e)
}

// digestFunction is a digest as hexadecimal digits.
func digestFunction(name string, sum func(text []byte) []byte) *hostFunction {
	return textFunction(name, newText, func(hosted) func(string) string {
		return func(text string) string { return hex.EncodeToString(sum([]byte(text))) }
	})
}

// murmur3 is MurmurHash3_x86_32.
func murmur3(text []byte, seed uint32) uint32 {
	const first, second = 0xcc9e2d51, 0x1b873593
	hash, length := seed, uint32(len(text))
	for ; len(text) >= 4; text = text[4:] {
		word := bits.RotateLeft32(binary.LittleEndian.Uint32(text)*first, 15) * second
		hash = bits.RotateLeft32(hash^word, 13)*5 + 0xe6546b64
	}
	var tail [4]byte
	copy(tail[:], text)
	hash ^= bits.RotateLeft32(binary.LittleEndian.Uint32(tail[:])*first, 15) * second
	hash ^= length
	hash = (hash ^ hash>>16) * 0x85ebca6b
	hash = (hash ^ hash>>13) * 0xc2b2ae35
	return hash ^ hash>>16
}
