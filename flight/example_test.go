package flight_test

import (
	"context"
	"fmt"
	"net"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/flight"
)

// A server shares a table, and a client reads it.
func Example() {
	type sale struct {
		City  string
		Price float64
	}
	gpu, err := gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(64<<20))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gpu.Close()
	server, err := flight.NewServer(gpu, flight.Options{}) // without clients, every caller is anonymous
	if err != nil {
		fmt.Println(err)
		return
	}
	err = server.Share("sales", func(e *gpuframe.Engine) gpuframe.Query {
		return gpuframe.From(e, []sale{{"Oslo", 60}, {"Bern", 55}})
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	defer func() {
		if err := server.Close(); err != nil {
			fmt.Println(err)
		}
		if err := <-served; err != nil {
			fmt.Println(err)
		}
	}()

	client, err := flight.Dial(listener.Addr().String(), flight.DialOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	reader, err := client.Read(context.Background(), "sales")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer reader.Release()
	for reader.Next() {
		fmt.Println(reader.Record().Column(0), reader.Record().Column(1))
	}
	if err := reader.Err(); err != nil {
		fmt.Println(err)
	}
	// Output: ["Oslo" "Bern"] [60 55]
}
