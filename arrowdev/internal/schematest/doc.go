// Package schematest is another library, for tests of the Arrow C data interface: it
// makes valid and invalid ArrowSchemas in C memory, counts the calls of their releases,
// and detects reads after a release.
package schematest
