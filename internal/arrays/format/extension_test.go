package format_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/arrays/format"
)

// parameters is an extension type; its serialized text selects its behaviour when it is
// deserialized.
type parameters struct {
	arrow.ExtensionBase
	text string
}

type parametersArray struct{ array.ExtensionArrayBase }

func newParameters(storage arrow.DataType, text string) *parameters {
	return &parameters{ExtensionBase: arrow.ExtensionBase{Storage: storage}, text: text}
}

func (*parameters) ArrayType() reflect.Type { return reflect.TypeFor[parametersArray]() }
func (*parameters) ExtensionName() string   { return "gpuframe.test.format" }
func (p *parameters) Serialize() string     { return p.text }
func (p *parameters) ExtensionEquals(other arrow.ExtensionType) bool {
	o, ok := other.(*parameters)
	return ok && o.text == p.text && arrow.TypeEqual(o.Storage, p.Storage)
}

func (*parameters) Deserialize(storage arrow.DataType, text string) (arrow.ExtensionType, error) {
	switch text {
	case "refuse":
		return nil, errors.New("refused")
	case "panic":
		panic("over what another library wrote")
	case "nil":
		return nil, nil
	case "nil pointer":
		return (*parameters)(nil), nil
	case "other storage":
		storage = arrow.BinaryTypes.String
	}
	return newParameters(storage, text), nil
}

func register(t *testing.T) {
	require.NoError(t, arrow.RegisterExtensionType(newParameters(arrow.Null, "")))
	t.Cleanup(func() { require.NoError(t, arrow.UnregisterExtensionType("gpuframe.test.format")) })
}

func TestExtensionTypes(t *testing.T) {
	user := arrow.NewMetadata([]string{"a", format.ExtensionName, "b"}, []string{"1", "overwritten", "2"})
	kept := arrow.NewMetadata([]string{"a", "b"}, []string{"1", "2"})
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	for _, storage := range []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.ListOf(arrow.BinaryTypes.String), dictionary} {
		t.Run(storage.String(), func(t *testing.T) {
			field := arrow.Field{Name: "x", Type: newParameters(storage, "text"), Metadata: user, Nullable: true}
			storageText, err := format.Of(storage)
			require.NoError(t, err)
			d, err := format.Describe(field)
			require.NoError(t, err)
			require.Equal(t, storageText, d.Format)

			// An unregistered type keeps its storage and its metadata.
			unknown := again(t, field)
			require.True(t, arrow.TypeEqual(storage, unknown.Type))
			want := arrow.NewMetadata([]string{"a", "b", format.ExtensionName, format.ExtensionMetadata},
				[]string{"1", "2", "gpuframe.test.format", "text"})
			require.Equal(t, want, unknown.Metadata)

			register(t)
			known := again(t, field)
			require.True(t, arrow.TypeEqual(field.Type, known.Type), known.Type)
			require.Equal(t, kept, known.Metadata)
			// A type that was unknown to an earlier reader is known after its
			// registration.
			require.True(t, arrow.TypeEqual(field.Type, again(t, unknown).Type))
			require.Equal(t, known, again(t, known))
		})
	}
}

func TestExtensionTypesThatRefuse(t *testing.T) {
	register(t)
	for _, text := range []string{"refuse", "panic", "nil", "nil pointer", "other storage"} {
		t.Run(text, func(t *testing.T) {
			metadata := arrow.NewMetadata([]string{format.ExtensionName, format.ExtensionMetadata}, []string{"gpuframe.test.format", text})
			field := arrow.Field{Type: arrow.PrimitiveTypes.Int8, Metadata: metadata}
			require.Equal(t, field, format.Extension(field))
		})
	}
	// The text may be left out.
	field := arrow.Field{Type: arrow.Null, Metadata: arrow.NewMetadata([]string{format.ExtensionName}, []string{"gpuframe.test.format"})}
	require.True(t, arrow.TypeEqual(newParameters(arrow.Null, ""), format.Extension(field).Type))
}
