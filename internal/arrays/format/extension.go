package format

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
)

// The keys of a field's metadata that name its extension type.
const (
	ExtensionName     = "ARROW:extension:name"
	ExtensionMetadata = "ARROW:extension:metadata"
)

// Extension returns the field with the extension type that its metadata name, if
// arrow-go has registered a type of that name for the field's storage; the metadata are
// then without the two keys. Otherwise it returns the field unchanged.
func Extension(field arrow.Field) arrow.Field {
	name, named := field.Metadata.GetValue(ExtensionName)
	if !named || field.Type == nil || field.Type.ID() == arrow.EXTENSION {
		return field
	}
	registered := arrow.GetExtensionType(name)
	if registered == nil {
		return field
	}
	data, _ := field.Metadata.GetValue(ExtensionMetadata)
	extension := deserialize(registered, field.Type, data)
	if extension == nil {
		return field
	}
	field.Type = extension
	field.Metadata = withoutExtension(field.Metadata)
	return field
}

// deserialize returns nil if the extension type returns an error. The text comes from
// another library, so a panic of the implementation counts as an error. A type with
// other storage counts as an error too, because memory would be misread.
func deserialize(registered arrow.ExtensionType, storage arrow.DataType, data string) (extension arrow.ExtensionType) {
	defer func() {
		if recover() != nil {
			extension = nil
		}
	}()
	extension, err := registered.Deserialize(storage, data)
	if err != nil || extension == nil || isNil(extension) || !arrow.TypeEqual(extension.StorageType(), storage) {
		return nil
	}
	return extension
}

// withExtension returns the field's metadata. For an extension type it adds the two
// keys, which replace equal keys of the field.
func withExtension(field arrow.Field) (arrow.Metadata, error) {
	extension, ok := field.Type.(arrow.ExtensionType)
	if !ok {
		return field.Metadata, nil
	}
	if storage := extension.StorageType(); storage.ID() == arrow.EXTENSION {
		return arrow.Metadata{}, fmt.Errorf("extension type %q has another extension type as storage, which a schema cannot describe: export the storage: %w",
			extension.ExtensionName(), ErrUnsupported)
	}
	rest := withoutExtension(field.Metadata)
	keys := append(append([]string{}, rest.Keys()...), ExtensionName, ExtensionMetadata)
	values := append(append([]string{}, rest.Values()...), extension.ExtensionName(), extension.Serialize())
	return arrow.NewMetadata(keys, values), nil
}

func withoutExtension(metadata arrow.Metadata) arrow.Metadata {
	var keys, values []string
	for i, key := range metadata.Keys() {
		if key != ExtensionName && key != ExtensionMetadata {
			keys, values = append(keys, key), append(values, metadata.Values()[i])
		}
	}
	return arrow.NewMetadata(keys, values)
}
