{{ config(materialized='view') }}

select * from {{ ref('orders') }} join {{ ref('stg', 'orders') }} using (id)
  join {{ source('crm', 'customers') }} using (id)
where at > {{ var("since") }}
{% if is_incremental() %}
  and at > (select max(at) from {{ this }})
{% endif %}
{# a note #}
