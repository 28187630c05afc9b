// Gpuframe-serve serves tables and queries over Arrow Flight.
//
//	gpuframe-serve --table flights=flights.parquet                # on localhost:8815, to everyone there
//	gpuframe-serve --listen :8815 --clients clients.json --certificate server.pem --key server.key \
//	    --table 'logs=logs/*.csv' --budget 16GiB
//
// A file of clients is a list of objects: [{"name": "reports", "token": "…", "budget": "4GiB"}].
// Without clients the server answers every caller, so it listens on this machine only;
// --anonymous allows other addresses. Clients may read files with their queries only below
// the folders of --files.
//
// After SIGTERM or an interrupt the program takes no more calls, /readyz of --health answers 503, and calls that run
// may go on for --drain. A second one ends the program immediately. Each flag has a variable of the environment:
// GPUFRAME_SERVE_LISTEN is --listen.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	_ "github.com/gpuframe/gpuframe/compression/brotli" // Parquet files of it
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the next signal ends the process
	if err := newCommand().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "gpuframe-serve:", err)
		os.Exit(1)
	}
}
