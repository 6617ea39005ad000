package main

import (
	"fmt"
	"io"
	"net"
)

// serveEcho sends back what comes, on each connection until the other side has sent all. It runs in a pod.
func serveEcho(port int) error {
	listener, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
	if err != nil {
		return err
	}
	fmt.Println("listening")
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer conn.Close()
			_, _ = io.Copy(conn, conn)
		}()
	}
}
