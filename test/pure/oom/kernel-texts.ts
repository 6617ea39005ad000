/** The kernel's log when it kills, as records of /dev/kmsg. */

/** Kernel 6.18, memory cgroup v1 with a limit of 20 MB: recorded, without most of the tables. */
export const MEMCG_6 = `4,344,1465689541,-;tail invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
4,345,1465689569,-;CPU: 0 UID: 0 PID: 24017 Comm: tail Not tainted 6.18.44-fc-v657 #1 PREEMPT(none) 
6,370,1465699200,-;memory: usage 19528kB, limit 19528kB, failcnt 22
6,371,1465699210,-;Memory cgroup stats for /nodeground-oom:
6,418,1465699407,-;Tasks state (memory values in pages):
6,419,1465699411,-;[  pid  ]   uid  tgid total_vm      rss rss_anon rss_file rss_shmem pgtables_bytes swapents oom_score_adj name
6,420,1465699416,-;[  24016]     0 24016      732      411        0      411         0    45056        0             0 timeout
6,421,1465699421,-;[  24017]     0 24017     5514     5219     4800      419         0    90112        0             0 tail
6,422,1465699426,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/nodeground-oom,task_memcg=/nodeground-oom,task=tail,pid=24017,uid=0
3,423,1465699464,-;Memory cgroup out of memory: Killed process 24017 (tail) total-vm:22056kB, anon-rss:19200kB, file-rss:1676kB, shmem-rss:0kB, UID:0 pgtables:88kB oom_score_adj:0`;

/** The same kernel without any limit: \`global_oom\` stands for the cgroup (mm/oom_kill.c dump_oom_victim). */
export const GLOBAL_6 = `4,500,1500000000,-;kworker/u9:1 invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP), order=0, oom_score_adj=0
4,501,1500000001,-;CPU: 1 UID: 0 PID: 1860 Comm: kworker/u9:1 Not tainted 6.18.44 #1 PREEMPT_DYNAMIC
4,502,1500000002,-;Mem-Info:
6,520,1500000100,-;[   1873]  1000  1873   999999   900000   899900      100         0  7340032        0             0 tail
6,521,1500000101,-;oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/user.slice,task=tail,pid=1873,uid=1000
3,522,1500000102,-;Out of memory: Killed process 1873 (tail) total-vm:3999996kB, anon-rss:3599600kB, file-rss:400kB, shmem-rss:0kB, UID:1000 pgtables:7168kB oom_score_adj:0
6,523,1500000900,-;oom_reaper: reaped process 1873 (tail), now anon-rss:0kB, file-rss:0kB, shmem-rss:0kB`;

/** Kernel 3.x: what reached its limit comes last. */
export const LEGACY_MEMCG = `4,1,100,-;memorymonster invoked oom-killer: gfp_mask=0xd0, order=0, oom_score_adj=0
6,2,101,-;memorymonster cpuset=/ mems_allowed=0
6,3,102,-;Task in /mem2 killed as a result of limit of /mem2/limit
6,4,103,-;memory: usage 980kB, limit 980kB, failcnt 4152239
3,5,104,-;Memory cgroup out of memory: Kill process 13536 (memorymonster) score 996 or sacrifice child
3,6,105,-;Killed process 13536 (memorymonster) total-vm:1016kB, anon-rss:940kB, file-rss:4kB`;

/** The same age, no cgroup named. */
export const LEGACY_GLOBAL = `4,1001,200,-;badsysprogram invoked oom-killer: gfp_mask=0x280da, order=0, oom_score_adj=0
6,1002,201,-;Mem-Info:
3,1003,202,-;Out of memory: Kill process 19667 (evil-program2) score 801 or sacrifice child
3,1004,203,-;Killed process 19667 (evil-program2) total-vm:1460016kB, anon-rss:1414008kB, file-rss:4kB`;
