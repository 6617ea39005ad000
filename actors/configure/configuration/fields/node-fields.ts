import { z } from 'zod';
import { duration, int32, int64, oneOf, text, truth } from '../field-kinds.ts';

/** The node object, its heartbeats, and the way to the API server. */
export const nodeFields = {
  registerNode: truth(true),
  registerWithTaints: z
    .array(
      z.strictObject(
        {
          key: z.string({ error: 'a label name' }),
          value: text(),
          effect: z.string({ error: 'NoSchedule, PreferNoSchedule or NoExecute' }).default(''),
          timeAdded: z.string({ error: 'no value' }).optional(),
        },
        { error: 'a taint: key, value, effect' },
      ),
      { error: 'a list of taints' },
    )
    .default([]),
  providerID: text(),
  nodeStatusUpdateFrequency: duration(10_000),
  nodeStatusReportFrequency: duration(300_000),
  nodeLeaseDurationSeconds: int32(40),
  nodeStatusMaxImages: int32(50),
  contentType: text('application/vnd.kubernetes.protobuf'),
  kubeAPIQPS: int32(50),
  kubeAPIBurst: int32(100),
  eventRecordQPS: int32(50),
  eventBurst: int32(100),
  configMapAndSecretChangeDetectionStrategy: oneOf(['Watch', 'Cache', 'Get'], 'Watch'),
  maxPods: int32(110),
  podsPerCore: int32(0),
  maxOpenFiles: int64(1_000_000),
  oomScoreAdj: int32(-999),
  runOnce: truth(false),
  enableControllerAttachDetach: truth(true),
  volumePluginDir: text('/usr/libexec/kubernetes/kubelet-plugins/volume/exec/'),
  volumeStatsAggPeriod: duration(60_000),
};
