// Package format is the text of the Arrow C data interface: the format strings
// that stand for types, the metadata blobs, and what the two together say about
// extension types. It holds no C and does not know the structs, which package
// cabi has.
//
// # From a type to a schema
//
// [Describe] takes a field apart into what one ArrowSchema says about it: format
// string, flags, metadata, and the fields that its children describe.
//
// # From a schema to a type
//
// [Parse] reads a format string, strictly: what it takes it takes whole, and
// every refusal names the part that is wrong. [Parsed.Type] puts the type
// together with the children, the flags and the dictionary that the schema has
// besides; [Extension] then makes an extension type of it where the metadata name
// one that is registered.
//
// # What the types of arrow-go cannot say
//
// Some of what a schema may carry has no place in arrow-go: the names of the
// fields below a map and of those below a run-end encoded type, the metadata of a
// map's entries, of run ends and of run-end encoded values, and the name,
// nullability and metadata of a dictionary. Reading drops these. Fixed-size lists
// of length zero and decimals of 32 and 64 bits are refused with
// [ErrUnsupported].
//
// All functions may be called from any number of goroutines at once.
package format
