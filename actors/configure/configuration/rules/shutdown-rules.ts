import { goDuration } from '../../../../machines/values/go-duration.ts';
import { type Rule, when } from './rule.ts';

/** Graceful node shutdown and restarts of containers. */
export const shutdownRules: Rule = (config, { gates }) => {
  const { shutdownGracePeriod: all, shutdownGracePeriodCriticalPods: critical } = config;
  const byPriority = config.shutdownGracePeriodByPodPriority;
  const graceful = gates.enabled('GracefulNodeShutdown');
  const bad = (ms: number) => ms < 0 || (ms > 0 && ms < 1000);
  const restart = config.crashLoopBackOff.maxContainerRestartPeriod;
  return [
    ...when(
      graceful && critical > all,
      'shutdownGracePeriodCriticalPods',
      goDuration(critical),
      `at most shutdownGracePeriod (${goDuration(all)})`,
    ),
    ...when(graceful && bad(all), 'shutdownGracePeriod', goDuration(all), '0s, or 1s and more'),
    ...when(graceful && bad(critical), 'shutdownGracePeriodCriticalPods', goDuration(critical), '0s, or 1s and more'),
    ...when(
      !graceful && (all > 0 || critical > 0),
      all > 0 ? 'shutdownGracePeriod' : 'shutdownGracePeriodCriticalPods',
      goDuration(all > 0 ? all : critical),
      '0s, while the feature gate GracefulNodeShutdown is off',
    ),
    ...when(
      gates.enabled('GracefulNodeShutdownBasedOnPodPriority') && byPriority.length > 0 && (all > 0 || critical > 0),
      'shutdownGracePeriodByPodPriority',
      byPriority,
      'nothing, when shutdownGracePeriod or shutdownGracePeriodCriticalPods is set',
    ),
    ...when(
      !gates.enabled('GracefulNodeShutdownBasedOnPodPriority') && byPriority.length > 0,
      'shutdownGracePeriodByPodPriority',
      byPriority,
      'nothing, while the feature gate GracefulNodeShutdownBasedOnPodPriority is off',
    ),
    ...(gates.enabled('KubeletCrashLoopBackOffMax')
      ? when(
          restart !== undefined && (restart < 1000 || restart > 300_000),
          'crashLoopBackOff.maxContainerRestartPeriod',
          goDuration(restart ?? 0),
          '1s to 300s',
        )
      : when(
          restart !== undefined,
          'crashLoopBackOff.maxContainerRestartPeriod',
          goDuration(restart ?? 0),
          'nothing, while the feature gate KubeletCrashLoopBackOffMax is off',
        )),
  ];
};
