package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"

	"github.com/golang/snappy"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"golang.org/x/sync/errgroup"

	"github.com/gpuframe/gpuframe/internal/io/decompress"
)

// mostDistinct is the number of bytes of which pages are compressed; more repeat them, in other
// memory.
const mostDistinct = 64 << 20

// content is a kind of values.
type content struct {
	name  string
	write func(r *rand.Rand, page []byte)
}

var contents = []content{{"text", text}, {"keys", keys}, {"doubles", doubles}}

// text writes sentences of the words of TPC-H's comments.
func text(r *rand.Rand, page []byte) {
	words := []string{"carefully", "quickly", "furiously", "slyly", "blithely", "ironic", "final", "pending", "regular", "express", "special", "bold", "even",
		"silent", "unusual", "deposits", "requests", "accounts", "packages", "theodolites", "instructions", "foxes", "pinto beans", "dependencies", "platelets",
		"sleep", "haggle", "nag", "wake", "cajole", "detect", "integrate", "use", "boost", "about the", "above the", "according to the", "across the", "after the", "along the"}
	for len(page) > 0 {
		n := copy(page, words[r.IntN(len(words))])
		n += copy(page[n:], []string{" ", " ", " ", " ", " ", ". ", ", "}[r.IntN(7)])
		page = page[n:]
	}
}

// keys writes int64 values as those of a sorted key: each is up to seven more than the one before.
func keys(r *rand.Rand, page []byte) {
	key := r.Uint64N(1 << 30)
	for i := 0; i+8 <= len(page); i += 8 {
		key += r.Uint64N(8)
		binary.LittleEndian.PutUint64(page[i:], key)
	}
}

// doubles writes amounts in cents.
func doubles(r *rand.Rand, page []byte) {
	for i := 0; i+8 <= len(page); i += 8 {
		binary.LittleEndian.PutUint64(page[i:], math.Float64bits(float64(r.IntN(10_000_000))/100))
	}
}

// data is pages to decompress.
type data struct {
	pages []decompress.Page
	input []byte
	// plain has the output of the first pages, which the others repeat.
	plain [][]byte
}

// newData compresses pages of some bytes together.
func newData(codec decompress.Codec, c content, page, total int) (d data, err error) {
	d.plain = make([][]byte, max(1, min(total, mostDistinct)/page))
	packed := make([][]byte, len(d.plain))
	group := errgroup.Group{}
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range d.plain {
		group.Go(func() (err error) {
			d.plain[i] = make([]byte, page)
			c.write(rand.New(rand.NewPCG(uint64(i), 1)), d.plain[i])
			packed[i], err = compress(codec, d.plain[i])
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return d, err
	}
	for i := range max(1, total/page) {
		part := packed[i%len(packed)]
		d.pages = append(d.pages, decompress.Page{Source: uint64(len(d.input)), Target: uint64(i * page), Compressed: uint32(len(part)), Length: uint32(page)})
		d.input = append(d.input, part...)
	}
	return d, nil
}

func compress(codec decompress.Codec, plain []byte) ([]byte, error) {
	switch codec {
	case decompress.None:
		return plain, nil
	case decompress.Snappy:
		return snappy.Encode(nil, plain), nil
	case decompress.LZ4Raw:
		packed := make([]byte, lz4.CompressBlockBound(len(plain)))
		n, err := lz4.CompressBlock(plain, packed, nil)
		return packed[:n], err
	case decompress.Gzip:
		var packed bytes.Buffer
		writer := gzip.NewWriter(&packed)
		if _, err := writer.Write(plain); err != nil {
			return nil, err
		}
		err := writer.Close()
		return packed.Bytes(), err
	case decompress.Zstandard:
		encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		return encoder.EncodeAll(plain, nil), encoder.Close()
	}
	return nil, fmt.Errorf("no encoder of %v", codec)
}
