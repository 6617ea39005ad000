/** What people run: a Deployment, and a StatefulSet whose claim is bound to a folder of the node; each start adds a line to a file there. */
export const WORKLOADS = `apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      terminationGracePeriodSeconds: 1
      containers:
        - name: web
          image: localhost/actorlet/busybox:1
          imagePullPolicy: Never
          command: [sh, -c, 'mkdir /www; echo it works > /www/index.html; exec httpd -f -p 8080 -h /www']
          readinessProbe: { httpGet: { port: 8080 }, timeoutSeconds: 30, periodSeconds: 5 }
          resources: { requests: { cpu: 10m, memory: 16Mi }, limits: { memory: 64Mi } }
---
apiVersion: v1
kind: PersistentVolume
metadata: { name: store }
spec:
  capacity: { storage: 1Gi }
  accessModes: [ReadWriteOnce]
  storageClassName: folder
  hostPath: { path: /var/store, type: DirectoryOrCreate }
---
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: store }
spec:
  replicas: 1
  serviceName: store
  selector: { matchLabels: { app: store } }
  volumeClaimTemplates:
    - metadata: { name: data }
      spec:
        accessModes: [ReadWriteOnce]
        storageClassName: folder
        resources: { requests: { storage: 1Gi } }
  template:
    metadata: { labels: { app: store } }
    spec:
      terminationGracePeriodSeconds: 1
      containers:
        - name: store
          image: localhost/actorlet/busybox:1
          imagePullPolicy: Never
          command: [sh, -c, 'echo $HOSTNAME >> /data/written; echo wrote $HOSTNAME; sleep 1000000']
          volumeMounts: [{ name: data, mountPath: /data }]
          readinessProbe: { exec: { command: [test, -s, /data/written] }, timeoutSeconds: 30, periodSeconds: 5 }
`;
