{# Fails for each row of a view for which this does not hold. #}
{% test holds(model, law) %}
select * from {{ model }} where not ({{ law }})
{% endtest %}
