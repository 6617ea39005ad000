// Command csi-node-driver-registrar stands where Kubernetes' sidecar of that name does (which is no module of the Go proxy): it asks a
// CSI driver for its name, and offers the driver's socket to the node's agent in its folder of plugins.
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

// The only version of CSI's registration that agents know.
const version = "1.0.0"

type registrar struct {
	registration.UnsafeRegistrationServer
	driver, endpoint string
}

// GetInfo tells the agent what stands behind the socket.
func (r registrar) GetInfo(context.Context, *registration.InfoRequest) (*registration.PluginInfo, error) {
	return &registration.PluginInfo{
		Type:              registration.CSIPlugin,
		Name:              r.driver,
		Endpoint:          r.endpoint,
		SupportedVersions: []string{version},
	}, nil
}

// NotifyRegistrationStatus ends the program when the agent did not take the driver: its container is started again, and offers it anew.
func (r registrar) NotifyRegistrationStatus(_ context.Context, status *registration.RegistrationStatus) (*registration.RegistrationStatusResponse, error) {
	if !status.PluginRegistered {
		log.Printf("%s was not registered: %s", r.driver, status.Error)
		os.Exit(1)
	}
	log.Printf("%s is registered", r.driver)
	return &registration.RegistrationStatusResponse{}, nil
}

// driverName asks until the driver answers: it may start later than this.
func driverName(address string, timeout time.Duration) string {
	conn, err := grpc.NewClient("unix:"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	for {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		info, err := csi.NewIdentityClient(conn).GetPluginInfo(ctx, &csi.GetPluginInfoRequest{}, grpc.WaitForReady(true))
		cancel()
		if err == nil {
			return info.Name
		}
		log.Printf("no name yet: %v", err)
		time.Sleep(time.Second)
	}
}

func main() {
	address := flag.String("csi-address", "/run/csi/socket", "the driver's socket as it is here")
	endpoint := flag.String("kubelet-registration-path", "", "the driver's socket as the agent sees it")
	folder := flag.String("plugin-registration-path", "/registration", "the agent's folder of plugins, as it is here")
	timeout := flag.Duration("timeout", time.Second, "of a call to the driver")
	flag.Int("v", 0, "is taken and not used")
	flag.Parse()
	driver := driverName(*address, *timeout)
	log.Printf("the driver is %s", driver)
	socket := filepath.Join(*folder, driver+"-reg.sock")
	// one of an earlier life
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
		log.Fatal(err)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	registration.RegisterRegistrationServer(server, registrar{driver: driver, endpoint: *endpoint})
	go func() {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
		<-signals
		// The socket goes with the server, by which the agent hears that the driver left.
		server.Stop()
	}()
	if err := server.Serve(listener); err != nil {
		log.Fatal(err)
	}
}
