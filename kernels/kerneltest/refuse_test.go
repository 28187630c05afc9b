package kerneltest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

// TestRefusals checks that unknown code returns an error with its line, never a result.
func TestRefusals(t *testing.T) {
	b := open(t, Options{})
	for code, want := range map[string]string{
		"frobnicate.b32 %r1, %r2;":                "not known to the emulator",
		"add.s32.funny %r1, %r2, 1;":              "not a type",
		"add.funny.s32 %r1, %r2, 1;":              ".funny",
		"add.s32 %r1, %q1, 1;":                    "64 bits, but the instruction has 32",
		"add.f32 %r1, %f1, %f2;":                  "",
		"add.s32 %f1, %r1, 1;":                    "another class",
		"add.s32 %r9, %r1, 1;":                    "not a register",
		"mul.s32 %r1, %r1, 2;":                    "expected .lo, .hi or .wide",
		"cvt.s32.f32 %r1, %f1;":                   "becomes an integer",
		"cvt.f32.f64 %f1, %e1;":                   "narrower",
		"setp.lt.b32 %p1, %r1, 2;":                "does not apply to .b types",
		"bra nowhere;":                            "the label nowhere does not exist",
		"vote.ballot.b32 %r1, %p1;":               "",
		"add.f32 %f1, %f2, 1;":                    "expected a 32-bit float",
		"ld.global.u32 %h1, [%q1];":               "16 bits",
		"st.const.u32 [%q1], %r1;":                "not written",
		"call (%r1), nobody, (%r2);":              "no body",
		"atom.global.add.s64 %q1, [%q2], 1;":      "unknown atomic operation",
		"redux.sync.add.s32 %r1, %r2, -1;":        "not known",
		"lab: add.s32 %r1, %r1, 1; lab: bra lab;": "defined twice",
		".reg .b32 %r1;":                          "declared twice",
	} {
		_, err := b.load(".visible .entry k() { .reg .pred %p<3>; .reg .b16 %h<3>; .reg .b32 %r<4>; .reg .b64 %q<4>; .reg .f32 %f<3>; .reg .f64 %e<3>;\n" + code + "\nret; }")
		if code == "add.f32 %r1, %f1, %f2;" {
			require.NoError(t, err, "registers of .b32 hold floats too")
			continue
		}
		require.ErrorIs(t, err, backend.ErrInvalidCode, code)
		assert.ErrorContains(t, err, want)
		if code != ".reg .b32 %r1;" {
			assert.ErrorContains(t, err, "line 5")
		}
	}
	for text, want := range map[string]string{
		"":                           "empty",
		".version 7.0":               "lacks",
		header + ".entry k() {":      "does not end",
		header + ".texref t;":        "not known here",
		header + ".entry k() { \"x;": "does not end",
	} {
		_, err := b.e.ModuleLoad([]byte(text))
		require.ErrorIs(t, err, backend.ErrInvalidCode, text)
		assert.ErrorContains(t, err, want)
	}
}

// TestAssemble uses ptxas if it is installed.
func TestAssemble(t *testing.T) {
	Assemble(t, header+".visible .entry k() { ret; }\n")
	Assemble(t, header+chain)
}
