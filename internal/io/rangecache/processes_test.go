package rangecache

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// readerVariable has the seed and the folder of a process that reads ranges.
const readerVariable = "GPUFRAME_TEST_RANGE_READER"

const (
	sharedMost    = 2 << 20
	sharedObjects = 3
	sharedLength  = 1 << 20
)

// sharedObject is an object that all processes know.
func sharedObject(number int) *object {
	random := rand.New(rand.NewPCG(uint64(number), 0))
	contents := make([]byte, sharedLength)
	for i := range contents {
		contents[i] = byte(random.Uint32())
	}
	return &object{key: Key{"store", fmt.Sprintf("s3://bucket/%d", number), "1", sharedLength}, contents: contents}
}

// TestReader is the process that TestProcesses starts. It ends in the middle of its last write.
func TestReader(t *testing.T) {
	seed, folder, ok := strings.Cut(os.Getenv(readerVariable), " ")
	if !ok {
		t.Skip("it is the process of another test")
	}
	number, err := strconv.ParseUint(seed, 10, 64)
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(number, 1))
	c := New(folder, sharedMost)
	var objects []*object
	for i := range sharedObjects {
		objects = append(objects, sharedObject(i))
	}
	for range 200 {
		o := objects[random.IntN(len(objects))]
		offset := random.Int64N(sharedLength)
		_, result := o.read(t, c, offset, 1+random.Int64N(min(sharedLength-offset, 200_000)))
		require.NoError(t, result.Failure)
	}
	fmt.Println("the reader has read")
	c.write = func(file *os.File, b []byte) error {
		_, _ = file.Write(b[:len(b)/2])
		os.Exit(0)
		return nil
	}
	last := sharedObject(100 + int(number))
	for i := int64(0); ; i++ { // until it has the lock
		last.read(t, c, i%sharedLength, 1)
	}
}

// Processes read and write the same cache, with evictions, and end in the middle of a write. All reads are right, the limit holds,
// and files that they have left are removed.
func TestProcesses(t *testing.T) {
	folder := t.TempDir()
	var readers []*exec.Cmd
	var outputs [3]bytes.Buffer
	for i := range outputs {
		reader := exec.Command(os.Args[0], "-test.run", "^TestReader$")
		reader.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", readerVariable, i, folder))
		reader.Stdout, reader.Stderr = &outputs[i], &outputs[i]
		require.NoError(t, reader.Start())
		readers = append(readers, reader)
	}
	c := New(folder, sharedMost)
	random := rand.New(rand.NewPCG(7, 7))
	first := sharedObject(0)
	for range 300 {
		offset := random.Int64N(sharedLength - 1000)
		_, result := first.read(t, c, offset, 1000)
		require.NoError(t, result.Failure)
	}
	for i, reader := range readers {
		require.NoError(t, reader.Wait(), outputs[i].String())
		require.Contains(t, outputs[i].String(), "the reader has read")
	}
	require.LessOrEqual(t, size(t, c), int64(sharedMost))
	parts := func() (n int) {
		for _, path := range segmentFiles(t, c) {
			if strings.HasSuffix(path, ".part") {
				n++
			}
		}
		return n
	}
	require.Positive(t, parts())
	for i := range 30 {
		sharedObject(200+i).read(t, c, 0, 150_000)
	}
	require.LessOrEqual(t, size(t, c), int64(sharedMost))
	require.Zero(t, parts())
}
