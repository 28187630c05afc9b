//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// TestDamagedIPC reads streams and files that are cut, and messages that claim more bytes than
// there are: an error about the contents, and no memory in use.
func TestDamagedIPC(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	record := nestedRecord(40)
	defer record.Release()
	path := filepath.Join(t.TempDir(), "a.arrow")
	read := func(data []byte) error {
		require.NoError(t, os.WriteFile(path, data, 0o600))
		b, err := reading{}.read(m, path, openIPC)
		if err == nil {
			require.NoError(t, b.Release())
		}
		require.Zero(t, m.Stats().InUse)
		return err
	}
	var stream bytes.Buffer
	writer := ipc.NewWriter(&stream, ipc.WithSchema(record.Schema()))
	require.NoError(t, writer.Write(record))
	require.NoError(t, writer.Close())
	to, err := os.Create(path)
	require.NoError(t, err)
	fileWriter, err := ipc.NewFileWriter(to, ipc.WithSchema(record.Schema()))
	require.NoError(t, err)
	require.NoError(t, fileWriter.Write(record))
	require.NoError(t, fileWriter.Close())
	require.NoError(t, to.Close())
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, whole := range [][]byte{stream.Bytes(), file} {
		require.NoError(t, read(whole))
		for end := 0; end < len(whole)-64; end += 13 {
			if err := read(whole[:end]); err != nil {
				require.Equal(t, "invalid", describe(ofFile(err)).Kind, "%d bytes: %v", end, err)
			}
		}
	}
	claims := bytes.Clone(stream.Bytes())
	for at := 8; at < len(claims)-8; at++ { // the length of the second message's head
		if bytes.Equal(claims[at:at+4], []byte{0xff, 0xff, 0xff, 0xff}) {
			copy(claims[at+4:], []byte{0xf0, 0xff, 0xff, 0x7f})
			break
		}
	}
	require.Equal(t, "invalid", describe(ofFile(read(claims))).Kind)
}
