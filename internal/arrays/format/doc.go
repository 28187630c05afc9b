// Package format reads and writes the text of the Arrow C data interface: format
// strings for types, metadata blobs, and extension types, which combine the two. It
// contains no C and does not know the structs; those are in package cabi.
//
// # From a type to a schema
//
// [Describe] returns the contents of one ArrowSchema for a field: format string, flags,
// metadata, and the fields of its children.
//
// # From a schema to a type
//
// [Parse] reads a format string. It is strict: it consumes the whole string, and every
// error names the invalid part. [Parsed.Type] builds the type from that and from the
// children, the flags and the dictionary of the schema. [Extension] then makes an
// extension type of it if the metadata name a registered one.
//
// # What arrow-go cannot represent
//
// Some contents of a schema have no place in arrow-go: the names of the fields below a
// map and below a run-end encoded type, the metadata of a map's entries, of run ends
// and of run-end encoded values, and the name, nullability and metadata of a
// dictionary. Reading drops these. Fixed-size lists of length zero and decimals of 32
// and 64 bits return [ErrUnsupported].
//
// All functions are safe for concurrent use.
package format
