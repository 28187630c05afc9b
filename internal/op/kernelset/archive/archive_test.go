package archive

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/ptx"
)

const (
	header = ".version 7.0\n.target sm_70\n"
	first  = ".visible .entry first(\n)\n{\n\tret;\n}\n"
	shared = ".func helper()\n{\n\tret;\n}\n"
	second = ".visible .entry second(\n\t.param .u64 second_param_0\n)\n{\n\tbar.sync 0;\n\tret;\n}\n"
	whole  = header + first + shared + second
)

func TestArchive(t *testing.T) {
	packed, err := Pack(whole)
	require.NoError(t, err)
	text, err := Text(packed)
	require.NoError(t, err)
	assert.Equal(t, whole, text)
	for _, kernel := range []string{"first", "second", "sec", ""} {
		text, err = Only(packed, kernel)
		require.NoError(t, err)
		assert.Equal(t, ptx.Only(whole, kernel), text)
	}
	// Other programs read it too.
	r, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	all, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, whole, string(all))
}

// TestOthersAreSkipped checks that a kernel is read without the contents of others.
func TestOthersAreSkipped(t *testing.T) {
	packed, err := Pack(whole)
	require.NoError(t, err)
	before, err := pack("", header)
	require.NoError(t, err)
	member, err := pack("first", first)
	require.NoError(t, err)
	packed[len(before)+len(member)-5] ^= 1 // the checksum
	text, err := Only(packed, "second")
	require.NoError(t, err)
	assert.Equal(t, header+shared+second, text)
	_, err = Only(packed, "first")
	require.ErrorIs(t, err, gzip.ErrChecksum)
	require.ErrorContains(t, err, `member "first" at byte`)
}

// TestDamage truncates archives, and takes one of another program.
func TestDamage(t *testing.T) {
	packed, err := Pack(whole)
	require.NoError(t, err)
	ends, end := map[int]bool{0: true}, 0
	for entry, part := range ptx.Parts(whole) {
		member, err := pack(entry, part)
		require.NoError(t, err)
		end += len(member)
		ends[end] = true
	}
	for n := range packed {
		if _, err := Text(packed[:n]); ends[n] {
			require.NoError(t, err)
		} else {
			require.Error(t, err, n)
		}
	}
	var other bytes.Buffer
	w := gzip.NewWriter(&other)
	_, err = io.WriteString(w, whole)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	_, err = Text(other.Bytes())
	require.ErrorIs(t, err, errLength)
	_, err = Text([]byte(whole))
	require.ErrorIs(t, err, gzip.ErrHeader)
}
