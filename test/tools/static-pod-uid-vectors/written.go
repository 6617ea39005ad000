package main

import (
	"fmt"
	"strings"
)

func podWith(spec string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n" + spec
}

const oneContainer = "  containers:\n  - name: main\n    image: busybox\n"

// written are manifests for what a drawn one does not show: that they are valid, YAML, and what stands in two places.
func written() []manifest {
	item := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"in-list"},"spec":{"containers":[{"name":"a","image":"busybox"}]}}`
	return []manifest{
		{what: "a small pod", text: podWith(oneContainer), valid: true},
		{what: "a small pod of a URL", text: podWith(oneContainer), url: true, valid: true},
		{what: "a list of a URL", text: `{"apiVersion":"v1","kind":"PodList","items":[` + item + `]}`, url: true, valid: true},
		{what: "with a UID", text: strings.Replace(podWith(oneContainer), "name: web", "name: web\n  uid: my-own-uid", 1), valid: true},
		{what: "with a namespace, labels, annotations", valid: true, text: strings.Replace(podWith(oneContainer), "name: web",
			"name: web\n  namespace: kube-system\n  creationTimestamp: null\n  labels: {tier: control-plane, a: '1'}\n  annotations:\n    b: two\n    a: one\n    kubernetes.io/config.hash: given\n    pod.alpha.kubernetes.io/init-containers: dropped", 1)},
		{what: "managed fields", text: strings.Replace(podWith(oneContainer), "name: web", "name: web\n  managedFields:\n  - {manager: kubectl, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {'f:spec': {'f:<b>': {}, 'f:a': {'.': {}}}, 'f:metadata': {}}}\n  - {manager: none}", 1)},
		{what: "empty lists and maps", valid: true, text: podWith(oneContainer+"    args: []\n    env: []\n    resources: {limits: {}, requests: {}}\n  volumes: []\n  nodeSelector: {}\n  tolerations: []\n") + "status: {}\n"},
		{what: "null lists and maps", valid: true, text: podWith(oneContainer+"    args: null\n    env: ~\n    resources: null\n  volumes:\n  nodeSelector:\n  securityContext:\n") + "status:\n"},
		{what: "limits without requests", valid: true, text: podWith(oneContainer + "    resources:\n      limits: {cpu: 1, memory: 1.5Gi, ephemeral-storage: 1e9}\n")},
		{what: "fine amounts", valid: true, text: podWith(oneContainer + "    resources:\n      requests: {cpu: 0.1, memory: 100000000000m}\n      limits: {cpu: 1.0, memory: '134217728'}\n")},
		{what: "amounts below thousandths", text: podWith(oneContainer + "    resources:\n      requests: {cpu: 100u, memory: 5n}\n      limits: {cpu: 1.0005, memory: '3'}\n")},
		{what: "host network", valid: true, text: podWith(oneContainer + "    ports: [{containerPort: 80}, {containerPort: 81, hostPort: 81, protocol: UDP}]\n  hostNetwork: true\n  hostPID: true\n  hostIPC: true\n")},
		{what: "shared processes", valid: true, text: podWith(oneContainer + "  shareProcessNamespace: true\n  hostUsers: false\n  securityContext: {runAsUser: 1000, fsGroup: 2000, seccompProfile: {type: RuntimeDefault}}\n")},
		{what: "probes and hooks", valid: true, text: podWith(oneContainer + "    livenessProbe: {httpGet: {port: 80}}\n    readinessProbe: {grpc: {port: 9090}, periodSeconds: 5}\n    startupProbe: {tcpSocket: {port: web}}\n    ports: [{name: web, containerPort: 80}]\n    lifecycle: {preStop: {sleep: {seconds: 3}}, postStart: {httpGet: {port: web, path: /x}}}\n")},
		{what: "volumes", valid: true, text: podWith(oneContainer + "    volumeMounts: [{name: h, mountPath: /h}, {name: e, mountPath: /e, readOnly: true}]\n  volumes:\n  - {name: h, hostPath: {path: /tmp}}\n  - {name: e}\n  - {name: m, emptyDir: {medium: Memory, sizeLimit: 64Mi}}\n  - {name: d, downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.name}}, {path: b, mode: 0400, resourceFieldRef: {containerName: main, resource: limits.cpu}}]}}\n  - {name: p, projected: {sources: [{downwardAPI: {items: [{path: a, fieldRef: {fieldPath: metadata.labels}}]}}]}}\n  - {name: nf, nfs: {server: a, path: /b}}\n  - {name: i, iscsi: {targetPortal: '10.0.0.1:3260', iqn: 'iqn.2001-04.com.example:a', lun: 0}}\n  - {name: o, image: {reference: 'registry.example/a:latest'}}\n  - {name: f, fc: {targetWWNs: ['500a0982991b8dc5'], lun: 2}}\n")},
		{what: "environment", valid: true, text: podWith(oneContainer + "    env:\n    - {name: A, value: b}\n    - {name: B, valueFrom: {fieldRef: {fieldPath: status.podIP}}}\n    - {name: C, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1Mi}}}\n    - {name: D, valueFrom: {resourceFieldRef: {resource: requests.cpu}}}\n")},
		{what: "a variable from a file", text: podWith(oneContainer + "    env:\n    - {name: E, valueFrom: {fileKeyRef: {volumeName: v, path: a, key: E}}}\n  volumes: [{name: v, emptyDir: {}}]\n")},
		{what: "init containers and a sidecar", valid: true, text: podWith(oneContainer + "  initContainers:\n  - {name: i, image: 'a:1', resources: {limits: {cpu: 2}}}\n  - {name: s, image: 'a:latest', restartPolicy: Always}\n")},
		{what: "affinity and spread", valid: true, text: podWith(oneContainer + "  affinity:\n    nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In, values: [b]}]}]}}\n    podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: t, labelSelector: {matchLabels: {a: b}}}}]}\n  topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {b: c, a: b}}}]\n")},
		{what: "tolerations", valid: true, text: podWith(oneContainer + "  tolerations: [{key: a, operator: Exists, effect: NoSchedule}, {operator: Exists, effect: NoExecute}]\n")},
		{what: "a toleration with an end", valid: true, text: podWith(oneContainer + "  tolerations: [{operator: Exists, effect: NoExecute, tolerationSeconds: 30}, {key: a, operator: Exists}]\n")},
		{what: "a toleration without operator", valid: true, text: podWith(oneContainer + "  tolerations: [{key: a, value: b, effect: NoExecute}]\n")},
		{what: "a negative grace period", text: podWith(oneContainer + "  terminationGracePeriodSeconds: -5\n")},
		{what: "a grace period of 0", valid: true, text: podWith(oneContainer + "  terminationGracePeriodSeconds: 0\n")},
		{what: "an account by its old name", text: podWith(oneContainer + "  serviceAccount: old\n")},
		{what: "two accounts", text: podWith(oneContainer + "  serviceAccount: old\n  serviceAccountName: new\n")},
		{what: "unknown fields", valid: true, text: podWith(oneContainer + "    imagee: x\n  restartPolicyy: Never\n")},
		{what: "a status", text: podWith(oneContainer) + "status: {phase: Running, podIP: 10.0.0.1, hostIP: 1.2.3.4, qosClass: Burstable}\n"},
		{what: "two addresses", text: podWith(oneContainer) + "status: {podIP: 10.0.0.1, podIPs: [{ip: 10.0.0.2}, {ip: '::1'}]}\n"},
		{what: "addresses", text: podWith(oneContainer) + "status: {podIP: 10.0.0.1, podIPs: [{ip: 10.0.0.1}, {ip: '::1'}]}\n"},
		{what: "Windows", text: podWith(oneContainer + "    securityContext: {windowsOptions: {hostProcess: true, runAsUserName: a}}\n  os: {name: windows}\n")},
		{what: "Linux", valid: true, text: podWith(oneContainer + "    securityContext: {privileged: true, capabilities: {add: [NET_ADMIN], drop: [ALL]}, allowPrivilegeEscalation: true, procMount: Default, seLinuxOptions: {level: 's0:c1'}, appArmorProfile: {type: Unconfined}}\n    stdin: true\n    tty: true\n  os: {name: linux}\n")},
		{what: "names and addresses", valid: true, text: podWith(oneContainer + "  hostname: h\n  subdomain: s\n  setHostnameAsFQDN: true\n  hostAliases: [{ip: 1.2.3.4, hostnames: [a, b]}]\n  dnsPolicy: None\n  dnsConfig: {nameservers: [1.1.1.1], searches: [a.b], options: [{name: ndots, value: '2'}, {name: rotate}]}\n")},
		{what: "octal modes", valid: true, text: podWith(oneContainer + "  volumes: [{name: d, downwardAPI: {defaultMode: 0440, items: [{path: a, mode: 256, fieldRef: {fieldPath: metadata.name}}]}}]\n")},
		{what: "anchors of YAML", valid: true, text: "apiVersion: v1\nkind: Pod\nmetadata: {name: web, labels: &l {a: b}}\nspec:\n  nodeSelector: *l\n  containers: [{name: a, image: 'busybox', args: [\"\\u00e9\", 'it''s', yes please, !!str 1]}]\n"},
		{what: "JSON with spaces", valid: true, text: "{ \"apiVersion\" : \"v1\",\n\t\"kind\": \"Pod\", \"metadata\": {\"name\": \"web\"}, \"spec\": {\"containers\": [ {\"name\":\"a\",\"image\":\"b:1\",\"args\":[\"\\u003ca\\u003e\",\"\\ud83d\\ude00\"]} ]}}"},
		{what: "amounts that are numbers of JSON", valid: true, text: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"containers":[{"name":"a","image":"b:1","resources":{"limits":{"cpu":2,"memory":67108864}}}]}}`},
		{what: "another file", valid: true, text: podWith(oneContainer), file: "/etc/kubernetes/manifests/ä b.yaml"},
		{what: "resources of the pod", valid: true, text: podWith(oneContainer + "  resources: {limits: {cpu: 1, memory: 1Gi}}\n")},
		{what: "resources of the pod and of a container", valid: true, text: podWith(oneContainer + "    resources: {requests: {cpu: 100m, memory: 64Mi}}\n  resources: {limits: {cpu: 1, memory: 1Gi}}\n")},
		{what: "resources of the pod and of many containers", valid: true, text: podWith(oneContainer + "    resources: {requests: {cpu: 0.1, memory: 64Mi}, limits: {hugepages-2Mi: 4Mi, cpu: 0.2, memory: 64Mi}}\n  - name: b\n    image: b:1\n    resources: {requests: {cpu: 1, memory: 100M}, limits: {hugepages-2Mi: 2Mi, cpu: 1, memory: 100M}}\n  initContainers:\n  - {name: i, image: 'a:1', resources: {requests: {cpu: 300m, memory: 1Ki}}}\n  - {name: s, image: 'a:1', restartPolicy: Always, resources: {requests: {cpu: 7m, memory: '12345'}}}\n  - {name: j, image: 'a:1', resources: {requests: {cpu: 2m, memory: 300Mi}}}\n  resources: {limits: {cpu: 4, memory: 1Gi}}\n")},
		{what: "resources of the pod, only requests", valid: true, text: podWith(oneContainer + "    resources: {requests: {cpu: 0.1}, limits: {hugepages-2Mi: 4Mi, memory: 1Gi}}\n  resources: {requests: {cpu: 1}}\n")},
	}
}

// quantities has each way of writing an amount where it is rounded (resources) and where it is not (sizeLimit, divisor).
func quantities() []manifest {
	amounts := []string{
		"0", "00", "0.0", "-0", "0m", "0Ki", "1", "01", "+1", "-1", "1.", ".5", "0.5", "1.5", "1.50", "1.500", "100", "1000", "1000000", "1001", "2000000000",
		"1m", "10m", "100m", "500m", "1000m", "1500m", "2000m", "1u", "1000u", "1n", "1000n", "0.5n", "0.1n", "1.5m", "0.001", "0.0001", "0.0005", "0.000000001", "0.0000000001",
		"1k", "10k", "1000k", "1.5k", "1M", "1G", "1T", "1P", "1E", "9E", "10E", "123E", "9223372036854775807", "9223372036854775808", "99999999999999999999",
		"1Ki", "2Ki", "4Ki", "7Ki", "8Ki", "9Ki", "16Ki", "64Mi", "100Mi", "1Gi", "1.5Gi", "0.5Ki", "0.3Ki", "0.0001Ki", "1.0Gi", "1Ti", "1Pi", "1Ei", "7Ei", "8Ei", "1000Ei", "1024Ki", "1024Mi", "-64Mi", "-8Ki", "-0.5Ki",
		"1e3", "1E3", "1e0", "1e1", "12e6", "1.5e3", "1e-3", "1e-4", "1e-9", "1e-10", "15e-1", "1e18", "1e19", "-1e3", "-1.5", "-0.0001", "-100u", "123456789012345678", "1234567890123456789", "12345678901234567890", "0.123456789", "0.1234567891", "1.1234567899", "123456789.123456789", "1234567890.123456789",
		"100000000000000000000m", "1234567Gi", "12345678901Gi", "1.25Mi", "1.1Mi", "3.14159Gi",
	}
	var out []manifest
	for _, amount := range amounts {
		quoted := fmt.Sprintf("%q", amount)
		out = append(out, manifest{what: "amount " + amount, text: podWith(oneContainer + "    resources: {limits: {a.b/c: " + quoted + "}}\n    env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: " + quoted + "}}}]\n  volumes: [{name: a, emptyDir: {sizeLimit: " + quoted + "}}]\n")})
	}
	return out
}
