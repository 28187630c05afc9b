package decompress

import (
	"bytes"
	"compress/gzip"
	"slices"
	"testing"

	"github.com/golang/snappy"
	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// packed is a page for a test: its compressed bytes and the length that it claims.
type packed struct {
	bytes  []byte
	length int
}

// guard is the byte around the outputs of pages.
const guard = 0xc3

// unpack decompresses pages on a device. Most inputs and outputs begin at odd offsets, with guard
// bytes around each output, which it checks. The first page begins with the input, and the last one
// ends with it.
func unpack(t require.TestingT, test *testing.T, dev *device.Device, codec Codec, inputs []packed) ([][]byte, []Status) {
	return unpackBy(t, test, dev, inputs, codec.launch)
}

// launch is [Launch].
func (c Codec) launch(call *op.Call, batch Batch) error { return Launch(call, c, batch) }

// unpackBy is unpack with another launch.
func unpackBy(t require.TestingT, test *testing.T, dev *device.Device, inputs []packed, launch func(*op.Call, Batch) error) ([][]byte, []Status) {
	var pages []Page
	var input []byte
	target := 3
	for i, p := range inputs {
		input = append(input, bytes.Repeat([]byte{0xff}, i%5)...)
		pages = append(pages, Page{Source: uint64(len(input)), Target: uint64(target), Compressed: uint32(len(p.bytes)), Length: uint32(p.length)})
		input = append(input, p.bytes...)
		target += p.length + 1 + i%7
	}
	output := bytes.Repeat([]byte{guard}, target)
	// The emulator checks the bounds of allocations: the input and the output are one each.
	status := runBy(t, test, devicetest.Manager(test, dev, memory.Options{}), pages, input, output, launch)
	var results [][]byte
	end := 0
	for _, p := range pages {
		require.Equal(t, -1, indexOther(output[end:p.Target]), "bytes before a page were written")
		end = int(p.Target) + int(p.Length)
		results = append(results, output[p.Target:end])
	}
	require.Equal(t, -1, indexOther(output[end:]), "bytes after the last page were written")
	return results, status
}

func indexOther(data []byte) int {
	return slices.IndexFunc(data, func(b byte) bool { return b != guard })
}

// run decompresses pages of an input into output on a device.
func run(t require.TestingT, test *testing.T, dev *device.Device, codec Codec, pages []Page, input, output []byte) []Status {
	return runIn(t, test, devicetest.Manager(test, dev, memory.Options{}), codec, pages, input, output)
}

// runIn is run with memory of a manager.
func runIn(t require.TestingT, test *testing.T, mgr *memory.Manager, codec Codec, pages []Page, input, output []byte) []Status {
	return runBy(t, test, mgr, pages, input, output, codec.launch)
}

func runBy(t require.TestingT, test *testing.T, mgr *memory.Manager, pages []Page, input, output []byte, launch func(*op.Call, Batch) error) []Status {
	ctx := test.Context()
	call, err := op.Begin(ctx, kernels.Options{Manager: mgr})
	require.NoError(t, err)
	batch := Batch{Size: Measure(pages)}
	defer func() {
		for _, r := range []interface{ Release() error }{batch.Pages, batch.Input, batch.Output, batch.Status} {
			require.NoError(t, r.Release())
		}
	}()
	batch.Pages = upload(t, test, &call, Words(pages))
	batch.Input = upload(t, test, &call, input)
	batch.Output = upload(t, test, &call, output)
	numbers := slices.Repeat([]uint32{0xffff}, len(pages))
	batch.Status = upload(t, test, &call, numbers)
	require.NoError(t, launch(&call, batch))
	require.NoError(t, batch.Output.Download(ctx, call.Stream, output))
	require.NoError(t, batch.Status.Download(ctx, call.Stream, numbers))
	status := make([]Status, len(numbers))
	for i, number := range numbers {
		status[i] = Status(number)
	}
	return status
}

func upload[T memory.Element](t require.TestingT, test *testing.T, call *op.Call, values []T) memory.Slice[T] {
	slice, err := op.NewSlice[T](call, len(values))
	require.NoError(t, err)
	require.NoError(t, slice.Upload(test.Context(), call.Stream, values))
	return slice
}

// compress returns the forms in which writers compress a page.
func compress(t require.TestingT, codec Codec, plain []byte) (forms [][]byte) {
	switch codec {
	case None:
		forms = [][]byte{plain}
	case Snappy:
		forms = [][]byte{snappy.Encode(nil, plain)}
	case LZ4Raw:
		to := make([]byte, lz4.CompressBlockBound(len(plain))+1)
		n, err := lz4.CompressBlock(plain, to, nil)
		require.NoError(t, err)
		forms = append(forms, slices.Clone(to[:n]))
		n, err = lz4.CompressBlockHC(plain, to, lz4.Level9, nil, nil)
		require.NoError(t, err)
		forms = append(forms, slices.Clone(to[:n]))
	case Gzip:
		forms = compressGzip(t, plain)
	}
	if codec == Zstandard {
		forms = compressZstd(t, plain)
	}
	return forms
}

// gzipWriters are kept, because a new one clears a megabyte.
var gzipWriters = map[int]*gzip.Writer{}

// compressGzip returns stored, fixed and dynamic blocks, and two members with all that a header may
// have.
func compressGzip(t require.TestingT, plain []byte) (forms [][]byte) {
	add := func(level int, members ...[]byte) {
		var packed bytes.Buffer
		for i, member := range members {
			if gzipWriters[level] == nil {
				var err error
				gzipWriters[level], err = gzip.NewWriterLevel(nil, level)
				require.NoError(t, err)
			}
			writer := gzipWriters[level]
			writer.Reset(&packed)
			if i > 0 {
				writer.Header = gzip.Header{Name: "name", Comment: "comment", Extra: []byte("extra")}
			}
			_, err := writer.Write(member)
			require.NoError(t, err)
			require.NoError(t, writer.Close())
		}
		forms = append(forms, packed.Bytes())
	}
	for _, level := range []int{gzip.NoCompression, gzip.HuffmanOnly, gzip.BestSpeed, gzip.BestCompression} {
		add(level, plain)
	}
	add(gzip.DefaultCompression, plain[:len(plain)/3], plain[len(plain)/3:])
	return forms
}

func eachCodec(t *testing.T, f func(t *testing.T, dev *device.Device, codec Codec)) {
	eachOf(t, func(Codec) bool { return true }, f)
}

// eachOf is eachCodec for the codecs for which chosen reports true.
func eachOf(t *testing.T, chosen func(Codec) bool, f func(t *testing.T, dev *device.Device, codec Codec)) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		for codec := range Codec(len(decoders)) {
			if chosen(codec) {
				t.Run(codec.String(), func(t *testing.T) {
					eachForm(t, dev, codec, func(t *testing.T) { f(t, dev, codec) })
				})
			}
		}
	})
}

// eachForm runs a test with each form of the kernels of a codec.
func eachForm(t *testing.T, dev *device.Device, codec Codec, f func(t *testing.T)) {
	if dev.Kind() == device.Host || codec != Snappy && codec != LZ4Raw {
		f(t)
		return
	}
	for name, blocks := range property.InOrder(map[string]bool{"warps": false, "blocks": true}) {
		t.Run(name, func(t *testing.T) {
			defer forceBlocks(blocks)()
			f(t)
		})
	}
	if codec == Snappy {
		t.Run("fragments", func(t *testing.T) {
			defer forceFragments(1024)()
			f(t)
		})
	}
}

// forceFragments divides all pages into fragments of a number of bytes, by pieces of fewer, and returns a function
// that restores the choice.
func forceFragments(bytes uint32) (restore func()) {
	choice, parts := hasFragments, snappyParts
	hasFragments = func(Size) bool { return true }
	snappyParts.fragment, snappyParts.piece = bytes, bytes/3
	return func() { hasFragments, snappyParts = choice, parts }
}

// forceBlocks chooses the form of kernels, and returns a function that restores the choice.
func forceBlocks(blocks bool) (restore func()) {
	choice := hasBlocks
	hasBlocks = func(Size) bool { return blocks }
	return func() { hasBlocks = choice }
}

func TestChoiceOfForm(t *testing.T) {
	for _, c := range []struct {
		pages  int
		length uint64 // of each
		blocks bool
	}{{1, 1 << 20, true}, {1, 100, false}, {2000, 64 << 10, true}, {8192, 64 << 10, false}, {8192, 1 << 20, true}} {
		require.Equal(t, c.blocks, hasBlocks(Size{Pages: c.pages, Length: uint64(c.pages) * c.length}), "%d pages of %d bytes", c.pages, c.length)
	}
}
