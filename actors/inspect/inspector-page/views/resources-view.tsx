import type { ResourceRow } from '../../../../machines/pod-resources-api/resource-rows.ts';
import { roughly } from '../../../../machines/pressure/amount-words.ts';
import type { ResourcesMoment } from '../../inspector/inspector-api.ts';
import { dateTimeText, spanText } from '../model/clock-text.ts';
import { openPod } from '../session/travel.ts';

const COLUMNS = ['Pod', 'Container', 'CPUs', 'Memory', 'Devices and claims', 'Since'];

/** Who has which CPUs, memory, devices and claims alone, since when, and what is left for all others. */
export function ResourcesView({ told, at }: { told: ResourcesMoment; at: number }) {
  const { shared, free, rows, more } = told;
  return (
    <section class="node-facts resources" aria-label="Resources">
      <h3>
        Given away
        {shared !== null && (
          <span class="quiet">
            shared by all others: <b class="mono">{shared === '' ? 'no CPU' : `CPUs ${shared}`}</b>
          </span>
        )}
      </h3>
      {rows.length === 0 ? (
        <p class="quiet none">No container has anything of its own.</p>
      ) : (
        <table>
          <thead>
            <tr>
              {COLUMNS.map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Row key={`${row.uid} ${row.container}`} row={row} at={at} />
            ))}
          </tbody>
        </table>
      )}
      {more > 0 && <p class="quiet none">and {more} pods more: actorlet resources lists all</p>}
      {free !== null && (
        <p class="quiet mono free">
          {free
            .map(
              ({ node, resource, bytes, of }) =>
                `node ${String(node)}: ${resource} ${roughly('memory', bytes)} of ${roughly('memory', of)} free`,
            )
            .join(' · ')}
        </p>
      )}
    </section>
  );
}

function Row({ row, at }: { row: ResourceRow; at: number }) {
  const { uid, pod, container, cpus, memory, devices, since } = row;
  const began = since === null ? NaN : Date.parse(since);
  return (
    <tr data-uid={uid}>
      <th scope="row" class="mono">
        <button type="button" onClick={() => openPod(uid, null)}>
          {pod}
        </button>
      </th>
      <td class="mono">{container}</td>
      <td class="mono">{cpus}</td>
      <td class="mono">{lines(memory)}</td>
      <td class="mono">{lines(devices)}</td>
      <td class="mono quiet" title={Number.isNaN(began) ? '' : dateTimeText(began)}>
        {Number.isNaN(began) ? '' : `${spanText(at - began)} ago`}
      </td>
    </tr>
  );
}

function lines(words: readonly string[]) {
  return words.map((word) => <div key={word}>{word}</div>);
}
