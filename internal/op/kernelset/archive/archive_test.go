package archive

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/ptx"
)

const (
	header = ".version 7.0\n.target sm_70\n"
	first  = ".visible .entry first(\n)\n{\n\tret;\n}\n"
	shared = ".func helper()\n{\n\t.reg .b32 %r<9>;\n\tmov.b32 %r7, %r8;\n\tret;\n}\n"
	second = ".visible .entry second(\n\t.param .u64 second_param_0\n)\n{\n" +
		"\t.reg .pred %p<2>;\n\t.reg .b32 %r<9>;\n\tmov.u32 %r7, %tid.x;\n\tmov.u32 %r5, %envreg3;\n" +
		"$L__BB1_4:\n\tadd.s32 %r6, %r7, %r5; //@ %r6 %q1\n\tadd.s32 %r6, %r6, %r7;\n" +
		"\tsetp.eq.s32 %p1, %r6, 5;\n\t@%p1 bra $L__BB1_4;\n\tbra.uni $L__BB1_2;\n$L__BB1_2:\n\tbar.sync 0;\n\tret;\n}\n"
	// numberedSecond is second with the numbers of first uses.
	numberedSecond = ".visible .entry second(\n\t.param .u64 second_param_0\n)\n{\n" +
		"\t.reg .pred %p<2>;\n\t.reg .b32 %r<9>;\n\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, %envreg3;\n" +
		"$L1:\n\tadd.s32 %r3, %r1, %r2; //@ %r3 %q1\n\tadd.s32 %r3, %r3, %r1;\n" +
		"\tsetp.eq.s32 %p1, %r3, 5;\n\t@%p1 bra $L1;\n\tbra.uni $L2;\n$L2:\n\tbar.sync 0;\n\tret;\n}\n"
	whole    = header + first + shared + second
	numbered = header + first + shared + numberedSecond
)

func TestArchive(t *testing.T) {
	packed, err := Pack(whole)
	require.NoError(t, err)
	text, err := Text(packed)
	require.NoError(t, err)
	assert.Equal(t, numbered, text)
	assert.Equal(t, numbered, Normal(whole))
	assert.Equal(t, numbered, Normal(numbered))
	for _, kernel := range []string{"first", "second", "sec", ""} {
		text, err = Only(packed, kernel)
		require.NoError(t, err)
		assert.Equal(t, ptx.Only(numbered, kernel), text)
	}
}

// TestOthersAreSkipped checks that a kernel is read without the contents of others.
func TestOthersAreSkipped(t *testing.T) {
	packed, err := Pack(whole)
	require.NoError(t, err)
	before, err := Pack(header + first)
	require.NoError(t, err)
	packed[len(before)-2] ^= 1
	text, err := Only(packed, "second")
	require.NoError(t, err)
	assert.Equal(t, header+shared+numberedSecond, text)
	_, err = Only(packed, "first")
	require.ErrorContains(t, err, `member 1, kernel "first"`)
}

// TestDamage truncates archives, changes their bytes, and takes another text.
func TestDamage(t *testing.T) {
	packed, err := Pack(whole)
	require.NoError(t, err)
	members, err := parse(packed)
	require.NoError(t, err)
	ends := map[int]bool{len(packed): true}
	for rest := packed[len(magic):]; len(rest) > 0; {
		ends[len(packed)-len(rest)] = true
		_, after, ok := next(rest, len(members))
		require.True(t, ok)
		rest = after
	}
	for n := range packed {
		if _, err := Text(packed[:n]); ends[n] {
			require.NoError(t, err, n)
		} else {
			require.Error(t, err, n)
		}
		for bit := range 8 {
			damaged := append([]byte(nil), packed...)
			damaged[n] ^= 1 << bit
			if text, err := Text(damaged); err == nil {
				// Names and the choice of a dictionary that is not used have no checksum.
				assert.Len(t, text, len(numbered), "byte %d", n)
			}
		}
	}
	_, err = Text([]byte(whole))
	require.ErrorIs(t, err, errDamaged)
}

// TestRanksRefuse checks texts that have the marks of archives, and ranks of no register.
func TestRanksRefuse(t *testing.T) {
	for _, text := range []string{".visible .entry k(\n)\n{\n\x01\n}\n", ".visible .entry k(\n)\n{\n// é\n}\n"} {
		_, err := Pack(text)
		require.ErrorContains(t, err, "the kernel k has the character")
	}
	_, err := Pack(".visible .entry k(\n)\n{\n.reg .b32 %r<2>; mov %r!5, 1;\n}\n") // %r! is a new register, and %r15 no second one
	require.ErrorContains(t, err, "%r15 is used before %r1")
	_, err = unranked(".reg .b32 %r<2>; mov %r0, 1;", "k")
	require.Error(t, err)
}
