// Package schematest is another library, in tests of the Arrow C data interface:
// it makes ArrowSchemas, sound ones and broken ones, in C memory, counts how
// often their releases are called, and tells what is read of them too late.
package schematest
