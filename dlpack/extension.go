package dlpack

import (
	"fmt"
	"reflect"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
)

// ExtensionType is an Arrow type for elements that DLPack has and Arrow lacks. Its
// values are the variables of this package, such as [BFloat16]; programs do not make
// others. Arrow's files and streams keep the type of a column only if the reader has
// called arrow.RegisterExtensionType, which this package leaves to the program. An
// ExtensionType is immutable.
type ExtensionType struct {
	arrow.ExtensionBase
	name    string
	element cabi.DataType
}

// These are the element types that Arrow lacks. Do not assign to them. Their names
// are "gpuframe.bfloat16", "gpuframe.float8_e4m3fn", "gpuframe.complex64" and so on.
var (
	// BFloat16 is stored as uint16: the upper half of a float32.
	BFloat16 = newExtensionType("bfloat16", arrow.PrimitiveTypes.Uint16, cabi.CodeBfloat, 16)

	// The 8-bit floats are stored as uint8. The names give the numbers of exponent
	// and mantissa bits and the special values: FN has no infinities, UZ no negative
	// zero, B11 a bias of 11.
	Float8E3M4        = newFloat8("e3m4", cabi.CodeFloat8E3M4)
	Float8E4M3        = newFloat8("e4m3", cabi.CodeFloat8E4M3)
	Float8E4M3B11FNUZ = newFloat8("e4m3b11fnuz", cabi.CodeFloat8E4M3B11FNUZ)
	Float8E4M3FN      = newFloat8("e4m3fn", cabi.CodeFloat8E4M3FN)
	Float8E4M3FNUZ    = newFloat8("e4m3fnuz", cabi.CodeFloat8E4M3FNUZ)
	Float8E5M2        = newFloat8("e5m2", cabi.CodeFloat8E5M2)
	Float8E5M2FNUZ    = newFloat8("e5m2fnuz", cabi.CodeFloat8E5M2FNUZ)
	Float8E8M0FNU     = newFloat8("e8m0fnu", cabi.CodeFloat8E8M0FNU)

	// Complex64 is stored as a list of two float32, the real part first;
	// Complex128 as one of two float64.
	Complex64  = newExtensionType("complex64", arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32), cabi.CodeComplex, 64)
	Complex128 = newExtensionType("complex128", arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float64), cabi.CodeComplex, 128)
)

var extensionTypes = [...]*ExtensionType{
	BFloat16,
	Float8E3M4, Float8E4M3, Float8E4M3B11FNUZ, Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ, Float8E8M0FNU,
	Complex64, Complex128,
}

// ExtensionTypes returns all of the types in a new slice, for example to register
// them.
func ExtensionTypes() []*ExtensionType { return append([]*ExtensionType(nil), extensionTypes[:]...) }

func newExtensionType(name string, storage arrow.DataType, code, bits uint8) *ExtensionType {
	return &ExtensionType{
		ExtensionBase: arrow.ExtensionBase{Storage: storage},
		name:          "gpuframe." + name,
		element:       cabi.DataType{Code: code, Bits: bits, Lanes: 1},
	}
}

func newFloat8(name string, code uint8) *ExtensionType {
	return newExtensionType("float8_"+name, arrow.PrimitiveTypes.Uint8, code, 8)
}

// extensionOf returns the ExtensionType that corresponds to an Arrow type, or nil. It
// compares names, not Go types, because another library may have defined a type of
// the same name.
func extensionOf(t arrow.DataType) *ExtensionType {
	given, ok := t.(arrow.ExtensionType)
	if !ok {
		return nil
	}
	for _, each := range extensionTypes {
		if each == t || each.name == given.ExtensionName() && each.storedAs(given.StorageType()) {
			return each
		}
	}
	return nil
}

// storedAs reports whether a storage type has the layout that t needs. The name of
// the field of a complex number's parts does not matter.
func (t *ExtensionType) storedAs(storage arrow.DataType) bool {
	own, isList := t.Storage.(*arrow.FixedSizeListType)
	if !isList {
		return storage != nil && arrow.TypeEqual(t.Storage, storage)
	}
	other, isList := storage.(*arrow.FixedSizeListType)
	return isList && own.Len() == other.Len() && arrow.TypeEqual(own.Elem(), other.Elem())
}

// ExtensionName returns the type's name in Arrow's metadata.
func (t *ExtensionType) ExtensionName() string { return t.name }

// String returns the name.
func (t *ExtensionType) String() string { return fmt.Sprintf("extension<%s>", t.name) }

// Fingerprint distinguishes the type from others with the same storage.
func (t *ExtensionType) Fingerprint() string {
	return t.ExtensionBase.Fingerprint() + "{" + t.name + "}"
}

// ExtensionEquals reports whether both have the same name and the same storage.
func (t *ExtensionType) ExtensionEquals(other arrow.ExtensionType) bool {
	return other != nil && t.name == other.ExtensionName() && t.storedAs(other.StorageType())
}

// Serialize returns the empty string, because the name identifies the type.
func (t *ExtensionType) Serialize() string { return "" }

// Deserialize returns t if the storage is the type's, or else an error that wraps
// [ErrInvalid].
func (t *ExtensionType) Deserialize(storage arrow.DataType, _ string) (arrow.ExtensionType, error) {
	if !t.storedAs(storage) {
		return nil, fmt.Errorf("dlpack: %s is stored as %v, expected %v: %w", t.name, t.Storage, storage, ErrInvalid)
	}
	return t, nil
}

// ArrayType returns the type of [ExtensionArray].
func (t *ExtensionType) ArrayType() reflect.Type { return reflect.TypeFor[ExtensionArray]() }

// ExtensionArray is the arrow-go array of an [ExtensionType]. The values are in its
// Storage.
type ExtensionArray struct {
	array.ExtensionArrayBase
}
