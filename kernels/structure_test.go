package kernels

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

func TestStructLayout(t *testing.T) {
	for _, test := range []struct {
		name   string
		fields []any
		want   []byte
	}{
		{"one byte", []any{uint8(7)}, []byte{7}},
		{"rounded up to the widest", []any{uint16(1), uint8(2)}, []byte{1, 0, 2, 0}},
		{"a gap before the wide", []any{uint8(1), uint32(2), uint8(3)}, []byte{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0}},
		{"eight wide", []any{true, device.Pointer(0x20), int8(-1)},
			[]byte{1, 0, 0, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0xff, 0, 0, 0, 0, 0, 0, 0}},
		{"an array at its part's alignment", []any{uint8(1), [3]uint16{2, 3, 4}, uint8(5)}, []byte{1, 0, 2, 0, 3, 0, 4, 0, 5, 0}},
		{"words", []any{uint8(1), &Words{Values: []uint64{2, 3}}}, append([]byte{1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0}, 3, 0, 0, 0, 0, 0, 0, 0)},
		{"a struct inside", []any{uint8(1), Struct(uint16(2), uint8(3)), uint8(4)}, []byte{1, 0, 2, 0, 3, 0, 4, 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var a arguments
			values := []any{uint8(9), Struct(test.fields...), uint8(8)}
			require.NoError(t, a.pack(values, takes(1, len(test.want), 1), false))
			assert.Equal(t, test.want, a.bytesOf(1, len(test.want)))
			assert.Equal(t, []byte{9}, a.bytesOf(0, 1))
			assert.Equal(t, []byte{8}, a.bytesOf(2, 1), "the next argument has a slot of its own")
		})
	}
}

// TestStructMatchesGo compares the layout with Go structs, which are laid out as in C
// if no field is aligned to more than eight bytes.
func TestStructMatchesGo(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 || unsafe.Alignof(uint64(0)) != 8 {
		t.Skip("this machine lays structs out in another way")
	}
	var field func(depth int) *rapid.Generator[any]
	field = func(depth int) *rapid.Generator[any] {
		kinds := []*rapid.Generator[any]{
			rapid.Bool().AsAny(), rapid.Int8().AsAny(), rapid.Uint16().AsAny(), rapid.Int32().AsAny(),
			rapid.Uint64().AsAny(), rapid.Float32().AsAny(), rapid.Float64().AsAny(),
			rapid.Custom(func(r *rapid.T) any { return small(rapid.Int8().Draw(r, "small")) }),
			rapid.Custom(func(r *rapid.T) any { return [3]uint8(rapid.SliceOfN(rapid.Byte(), 3, 3).Draw(r, "bytes")) }),
			rapid.Custom(func(r *rapid.T) any { return [5]int16(rapid.SliceOfN(rapid.Int16(), 5, 5).Draw(r, "halves")) }),
			rapid.Custom(func(r *rapid.T) any { return [9]uint64(rapid.SliceOfN(rapid.Uint64(), 9, 9).Draw(r, "words")) }),
			rapid.Custom(func(r *rapid.T) any {
				return complex64(complex(rapid.Float32().Draw(r, "real"), rapid.Float32().Draw(r, "imaginary")))
			}),
		}
		if depth > 0 {
			kinds = append(kinds, rapid.Custom(func(r *rapid.T) any {
				return Struct(rapid.SliceOfN(field(depth-1), 1, 6).Draw(r, "fields")...)
			}))
		}
		return rapid.OneOf(kinds...)
	}
	property.Check(t, func(r *rapid.T) {
		value := Struct(rapid.SliceOfN(field(2), 1, 12).Draw(r, "fields")...)
		want := goStruct(value.(*structure))
		bytesWanted := int(want.Type().Size())
		a := takeArguments() // arguments that other launches have used
		defer a.giveBack()
		require.NoError(r, a.pack([]any{value, uint8(77)}, takes(bytesWanted, 1), true))
		got := a.bytesOf(0, bytesWanted)
		require.Equal(r, unsafe.Slice((*byte)(want.Addr().UnsafePointer()), bytesWanted), got)
		require.Equal(r, []byte{77}, a.bytesOf(1, 1))
	})
}

// goStruct makes the same struct with reflection, with zero padding.
func goStruct(s *structure) reflect.Value {
	values := make([]reflect.Value, len(s.fields))
	fields := make([]reflect.StructField, len(s.fields))
	for i, value := range s.fields {
		values[i] = reflect.ValueOf(value)
		if inner, ok := value.(*structure); ok {
			values[i] = goStruct(inner)
		}
		fields[i] = reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: values[i].Type()}
	}
	made := reflect.New(reflect.StructOf(fields)).Elem()
	for i, value := range values {
		made.Field(i).Set(value)
	}
	return made
}

func TestStructRefusals(t *testing.T) {
	number := 1
	for _, test := range []struct {
		name  string
		value any
		width int
		text  string
	}{
		{"nothing", Struct(), 8, "a struct without fields"},
		{"no words", &Words{}, 8, "no words"},
		{"int", Struct(int8(1), 5), 8, "field 1: int has no fixed width"},
		{"nil", Struct(nil), 8, "field 0: the argument is nil"},
		{"deep", Struct(Struct(uint8(1), Struct(&number))), 8, "field 0: field 1: field 0: *int is memory of the host"},
		{"Go's struct", Struct(struct{ A int8 }{}), 8, "pass its fields to kernels.Struct"},
		{"too small", Struct(int8(1), int16(2)), 8, "a value of 4 bytes (a struct of 2 fields), expected 8"},
		{"raw pointer", Struct(device.Pointer(8)), 8, "field 0: a raw device.Pointer"},
		{"raw pointer within", Struct(Struct(device.Pointer(8))), 8, "field 0: field 0: a raw device.Pointer"},
		{"nil output", Struct(Output(nil)), 8, "field 0: the output is nil"},
		{"nil block", Struct((*memory.Block)(nil)), 8, "field 0: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			var a arguments
			err := a.pack([]any{uint8(0), test.value}, takes(1, test.width), true)
			assert.ErrorContains(t, err, test.text)
			var argument *ArgumentError
			require.ErrorAs(t, err, &argument)
			assert.Equal(t, 1, argument.Index)
		})
	}
}

// TestStructHoldsMemory checks that memory in fields is held like separate arguments.
func TestStructHoldsMemory(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	values := make([]memory.Slice[uint32], 3)
	for i := range values {
		var err error
		values[i], err = memory.NewSlice[uint32](mgr, 16, memory.AllocateOptions{})
		require.NoError(t, err)
		defer func() { require.NoError(t, values[i].Release()) }()
	}
	var a arguments
	inner := Struct(Output(values[1]), device.Pointer(8), values[2])
	require.NoError(t, a.pack([]any{values[0], Struct(uint8(1), values[0], inner, memory.Slice[int64]{})}, takes(8, 48), false))
	assert.Equal(t, []region{{index: 0, block: values[0].Block()}, {index: 1, block: values[1].Block()}, {index: 1, block: values[2].Block()}}, a.regions)
	assert.EqualValues(t, 1, a.unrecorded)
	assert.Equal(t, []uint64{uint64(values[0].Pointer()), 1, uint64(values[0].Pointer()), uint64(values[1].Pointer()),
		8, uint64(values[2].Pointer()), 0}, a.slots)
	require.NoError(t, a.hold())
	assert.Equal(t, 2, values[2].Block().References())
	require.NoError(t, a.release(nil))
}

func TestWords(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	values, err := memory.NewSlice[uint32](mgr, 16, memory.AllocateOptions{})
	require.NoError(t, err)
	address := values.Pointer().Add(8)
	var words Words
	words.Add(1)
	words.AddAddress(address, values.Block())
	words.AddAddress(0, nil)
	words.AddAddress(address, values.Block())
	var a arguments
	require.NoError(t, a.pack([]any{&words, Struct(uint8(4), &words)}, takes(32, 40), true))
	words.Values[0] = 9
	assert.Equal(t, []uint64{1, uint64(address), 0, uint64(address), 4, 1, uint64(address), 0, uint64(address)}, a.slots)
	assert.Equal(t, []region{{index: 0, block: values.Block()}}, a.regions)

	block := values.Block()
	require.NoError(t, values.Release())
	a = arguments{}
	require.NoError(t, a.pack([]any{&words}, takes(32), true))
	require.ErrorIs(t, a.hold(), memory.ErrReleased)
	require.NoError(t, a.release(nil))
	assert.Contains(t, words.Blocks, block)
	words.Reset()
	assert.Equal(t, [2]int{}, [2]int{len(words.Values), len(words.Blocks)})
}

// BenchmarkPackStruct packs typical arguments of operators: 20 slices of one block and
// 20 numbers. It includes the cost of Struct.
func BenchmarkPackStruct(b *testing.B) {
	mgr := devicetest.Manager(b, devicetest.Open(b, "host"), memory.Options{})
	values, err := memory.NewSlice[float64](mgr, 1024, memory.AllocateOptions{})
	require.NoError(b, err)
	defer values.Release()
	signature := takes(320)
	run := func(name string, make func() any) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				a := takeArguments()
				if err := a.pack([]any{make()}, signature, true); err != nil {
					b.Fatal(err)
				}
				a.giveBack()
			}
		})
	}
	all := func(n int) any {
		fields := make([]any, 0, 40)
		for i := range uint64(20) {
			fields = append(fields, values, 1000*uint64(n)+i)
		}
		return Struct(fields...)
	}
	n := 0
	run("made anew", func() any { n++; return all(n) })
	made := all(1)
	run("made once", func() any { return made })
	var words Words
	run("words", func() any {
		words.Reset()
		for i := range uint64(20) {
			words.AddAddress(values.Pointer(), values.Block())
			words.Add(i)
		}
		return &words
	})
}
