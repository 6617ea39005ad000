// Command csi-mock-driver is what the end-to-end suite's image `hostpathplugin` runs (which is no module of the Go proxy). With
// --proxy-endpoint it hands on what the suite's own driver, in the suite's process, is to answer; without, it is that very driver itself,
// which tells each call in its log in the suite's form.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"

	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	grpcstatus "google.golang.org/grpc/status"
	"k8s.io/kubernetes/test/e2e/storage/drivers/csi-test/driver"
	"k8s.io/kubernetes/test/e2e/storage/drivers/csi-test/mock/service"
)

func main() {
	var config service.Config
	var attach bool
	endpoint := flag.String("endpoint", "/csi/csi.sock", "socket of the driver")
	proxied := flag.String("proxy-endpoint", "", "tcp://HOST:PORT at which the suite takes the driver's connections")
	flag.StringVar(&config.DriverName, "drivername", "mock.storage.k8s.io", "name of the driver")
	flag.BoolVar(&attach, "enable-attach", false, "volumes are attached to nodes")
	flag.BoolVar(&config.EnableTopology, "enable-topology", false, "volumes are of one part of the cluster")
	flag.BoolVar(&config.NodeExpansionRequired, "node-expand-required", false, "nodes must take part when a volume grows")
	flag.Int64Var(&config.AttachLimit, "attach-limit", 0, "volumes that a node takes; 0: any number")
	for _, name := range []string{"nodeid", "statedir", "v"} {
		flag.String(name, "", "is taken and not used")
	}
	flag.Parse()
	config.DisableAttach = !attach
	// one of an earlier life
	if err := os.Remove(*endpoint); err != nil && !os.IsNotExist(err) {
		log.Fatal(err)
	}
	listener, err := net.Listen("unix", *endpoint)
	if err != nil {
		log.Fatal(err)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	if *proxied != "" {
		go func() {
			<-signals
			listener.Close()
			os.Exit(0)
		}()
		log.Fatal(handOn(listener, *proxied))
	}
	mock := service.New(config)
	server := driver.NewCSIDriver(&driver.CSIDriverServers{Controller: mock, Identity: mock, Node: mock})
	if err := server.Start(listener, logged); err != nil {
		log.Fatal(err)
	}
	<-signals
	server.Stop()
}

// logged writes a call as the suite reads it from the driver's log (MockCSICall of test/e2e/storage/drivers/csi.go).
func logged(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	response, err := handler(ctx, request)
	call := struct {
		Method            string
		Request, Response any
		Error             string
		FullError         *status.Status
	}{Method: info.FullMethod, Request: request, Response: response}
	if err != nil {
		call.Error, call.FullError = err.Error(), grpcstatus.Convert(err).Proto()
	}
	line, problem := json.Marshal(call)
	if problem != nil {
		return nil, errors.Join(problem, err)
	}
	fmt.Printf("gRPCCall: %s\n", line)
	return response, err
}
