// Package stores runs the queries of TPC-H on objects of S3, with the latency of a store that is far away. Its test starts the
// server.
package stores
