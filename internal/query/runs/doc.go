// Package runs executes prepared queries. A [Run] waits for its turn among the queries of an engine and its
// tenants, opens the reader of the result, and attempts a query again that lacked memory.
package runs
