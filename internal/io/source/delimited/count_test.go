package delimited_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/io/source/delimited"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// Counts do not depend on the parts that a text is counted in.
func TestCount(t *testing.T) {
	property.Check(t, func(r *rapid.T) {
		text := []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "\"", "\n", "\n", "\r\n", "\r", "b,c"}), 0, 30).Draw(r, "text"), ""))
		var want delimited.Count
		for begin, odd, i := 0, false, 0; i < len(text); i++ {
			odd = odd != (text[i] == '"')
			if text[i] != '\n' {
				continue
			}
			want.Lines++
			if odd {
				continue
			}
			want.End = i + 1
			line := bytes.TrimSuffix(text[begin:i], []byte{'\r'})
			if begin = i + 1; len(line) == 0 {
				want.Empty++
			} else {
				want.Rows++
			}
		}
		var got delimited.Count
		length := rapid.IntRange(1, 40).Draw(r, "length of parts")
		for at := 0; at < len(text); at += length {
			end := min(at+length, len(text))
			got.Add(text[:end], delimited.CountPiece(text[at:end]))
		}
		require.Equal(t, []int64{want.Rows, want.Empty, want.Lines, int64(want.End)}, []int64{got.Rows, got.Empty, got.Lines, int64(got.End)}, "%q", text)
	})
}

func BenchmarkCountPiece(b *testing.B) {
	for name, row := range map[string]string{"plain": "1234,56,789.25,1992-03-01,1992-03-01 11:50:33,Lagos,ironic sleep final above carefully\n", "quoted": "\"1234\",\"56\",\"789.25\",\"1992-03-01\",\"Lagos\"\n", "short": "1,2\n"} {
		text := []byte(strings.Repeat(row, (1<<20)/len(row)))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				delimited.CountPiece(text)
			}
		})
	}
}
