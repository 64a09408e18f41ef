{# Fails if two rows of a view have the same values in these columns, or a null in one of them. #}
{% test one_row_each(model, columns) %}
select {{ columns | join(', ') }}, count(*) as rows
from {{ model }}
group by {{ columns | join(', ') }}
having count(*) > 1 or {% for column in columns %}{{ column }} is null{% if not loop.last %} or {% endif %}{% endfor %}
{% endtest %}
